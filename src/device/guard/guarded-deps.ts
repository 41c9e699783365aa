import { createDefects, type DefectReports, guardClock } from '../../machine/defects.ts';
import type { AgentDeps } from '../deps/deps.ts';
import { guardCallbacks, guardCapture } from './callback-guard.ts';
import { guardSignatures, type SignedContentReader } from './signed-content.ts';
import { guardStreams } from './stream-guard.ts';
import { guardVoiceDetectors } from './voice-guard.ts';

export interface GuardedDeps extends Omit<AgentDeps, 'signatures'> {
  /** Null: signatures are not checked. */
  readonly signatures: SignedContentReader | null;
}

/**
 * The agent's ports with a guard at each place that can throw: timers, streams, the voice detector, and the callbacks by
 * which adapters enter the agent. Each exception becomes the event `defect`. Other calls need no guard: their adapters turn
 * failures into results and events.
 */
export function guardDeps(deps: AgentDeps): { deps: GuardedDeps; reports: DefectReports } {
  const reports = deps.defects ?? createDefects(deps.log, deps.clock);
  const defects = reports.report;
  const { openEchoCanceller, openKeyDevice, signatures = null } = deps;
  const guarded: GuardedDeps = {
    ...deps,
    clock: guardClock(deps.clock, defects),
    signatures: signatures === null ? null : guardSignatures(signatures, defects),
    openBus: (options, listener) => deps.openBus(options, guardCallbacks('bus', listener, defects)),
    openStream: guardStreams(deps.openStream, defects),
    createVoiceDetector: guardVoiceDetectors(deps.createVoiceDetector, defects),
    ...(openEchoCanceller !== undefined && {
      openEchoCanceller: (rates, sink) =>
        openEchoCanceller(rates, guardCallbacks('canceller', sink, defects)),
    }),
    ...(openKeyDevice !== undefined && {
      openKeyDevice: (path, listener) => openKeyDevice(path, guardCallbacks('keys', listener, defects)),
    }),
    openAudio(lane) {
      const audio = deps.openAudio(lane);
      const { openHeadset, watchPlug } = audio;
      return {
        ...audio,
        openCapture: guardCapture(audio.openCapture, defects),
        openPlayback: (sink) => audio.openPlayback(guardCallbacks('playback', sink, defects)),
        ...(openHeadset !== undefined && {
          openHeadset: (sink) => openHeadset(guardCallbacks('playback', sink, defects)),
        }),
        ...(watchPlug !== undefined && {
          watchPlug: (listener) => watchPlug(guardCallbacks('plug', listener, defects)),
        }),
      };
    },
  };
  return { deps: guarded, reports };
}
