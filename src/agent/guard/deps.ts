import { type CreateEchoDetector, createEchoDetector } from '../../core/audio/echo-detector.ts';
import type { OpenCapture } from '../../ports/audio.ts';
import type { LaneConfig } from '../../protocol/config.ts';
import type { AgentDeps } from '../deps.ts';
import { guardCapture, guardPlayback, type OpenGuardedPlayback } from './audio.ts';
import { guardBrokers, guardCertificate } from './broker-access.ts';
import { guardBus } from './bus.ts';
import { createDefects, type DefectReports, guardClock, guardLog } from './defects.ts';
import { guardEchoCancellers, guardEchoDetectors, guardVoiceDetectors } from './detectors.ts';
import { guardHost, guardVitals } from './machine.ts';
import { guardSignatures, type SignedContentReader } from './signatures.ts';
import { guardStateFile } from './state-file.ts';
import { guardStreams } from './stream.ts';

export interface GuardedDeps extends Omit<AgentDeps, 'openAudio' | 'signatures'> {
  /** Null: anybody's word is taken. */
  readonly signatures: SignedContentReader | null;
  openAudio(lane: LaneConfig): {
    openCapture: OpenCapture;
    openPlayback: OpenGuardedPlayback;
    createEchoDetector: CreateEchoDetector;
  };
}

/**
 * The same, of which nothing that is thrown reaches the agent, and nothing that the agent throws in a callback
 * reaches whoever called: each becomes the event `defect`, and the one that fits where a lane does without something.
 */
export function guardDeps(deps: AgentDeps): { deps: GuardedDeps; reports: DefectReports } {
  const reports = deps.defects ?? createDefects(deps.log, deps.clock);
  const defects = reports.report;
  const log = guardLog(deps.log, defects);
  const clock = guardClock(deps.clock, defects);
  const { openEchoCanceller, commandFile, desiredFile, taskFile, budgetFile } = deps;
  const { signatures = null, certificate, brokers, host, vitals } = deps;
  const guarded: GuardedDeps = {
    ...deps,
    ...{ log, clock },
    signatures: signatures === null ? null : guardSignatures(signatures, defects),
    openBus: guardBus(deps.openBus, clock, defects),
    openStream: guardStreams(deps.openStream, defects),
    createVoiceDetector: guardVoiceDetectors(deps.createVoiceDetector, defects),
    ...(openEchoCanceller === undefined
      ? {}
      : { openEchoCanceller: guardEchoCancellers(openEchoCanceller, defects) }),
    ...(commandFile === undefined ? {} : { commandFile: guardStateFile(commandFile, defects) }),
    ...(desiredFile === undefined ? {} : { desiredFile: guardStateFile(desiredFile, defects) }),
    ...(taskFile === undefined ? {} : { taskFile: guardStateFile(taskFile, defects) }),
    ...(budgetFile === undefined ? {} : { budgetFile: guardStateFile(budgetFile, defects) }),
    ...(certificate === undefined ? {} : { certificate: guardCertificate(certificate, defects) }),
    ...(brokers === undefined ? {} : { brokers: guardBrokers(brokers, defects) }),
    ...(host === undefined ? {} : { host: guardHost(host, defects) }),
    ...(vitals === undefined ? {} : { vitals: guardVitals(vitals, defects) }),
    openAudio(lane) {
      const audio = deps.openAudio(lane);
      return {
        openCapture: guardCapture(audio.openCapture, defects),
        openPlayback: guardPlayback(audio.openPlayback, defects),
        createEchoDetector: guardEchoDetectors(audio.createEchoDetector ?? createEchoDetector, defects),
      };
    },
  };
  return { deps: guarded, reports };
}
