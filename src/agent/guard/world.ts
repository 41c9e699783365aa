import { type CreateEchoDetector, createEchoDetector } from '../../core/audio/echo-detector.ts';
import type { OpenCapture } from '../../ports/audio.ts';
import type { LaneConfig } from '../../protocol/config.ts';
import type { AgentWorld } from '../agent.ts';
import { guardCapture, guardPlayback, type OpenGuardedPlayback } from './audio.ts';
import { guardBus } from './bus.ts';
import { createDefects, type Defects, guardClock, guardLog } from './defects.ts';
import { guardEchoCancellers, guardEchoDetectors, guardVoiceDetectors } from './hearing.ts';
import { guardStateFile } from './state-file.ts';
import { guardStreams } from './stream.ts';

export interface GuardedWorld extends Omit<AgentWorld, 'openAudio'> {
  openAudio(lane: LaneConfig): {
    openCapture: OpenCapture;
    openPlayback: OpenGuardedPlayback;
    createEchoDetector: CreateEchoDetector;
  };
}

/**
 * The same world, of which nothing that is thrown reaches the agent, and nothing that the agent throws in a callback
 * reaches whoever called: each becomes the event that fits, or an error in the log.
 */
export function guardWorld(world: AgentWorld): { world: GuardedWorld; defects: Defects } {
  const log = guardLog(world.log);
  const defects = createDefects(log, world.clock);
  const clock = guardClock(world.clock, defects);
  const { openEchoCanceller, commandFile } = world;
  const guarded: GuardedWorld = {
    ...world,
    ...{ log, clock },
    openBus: guardBus(world.openBus, clock, defects),
    openStream: guardStreams(world.openStream, defects),
    createVoiceDetector: guardVoiceDetectors(world.createVoiceDetector, defects),
    ...(openEchoCanceller === undefined
      ? {}
      : { openEchoCanceller: guardEchoCancellers(openEchoCanceller, defects) }),
    ...(commandFile === undefined ? {} : { commandFile: guardStateFile(commandFile, defects) }),
    openAudio(lane) {
      const audio = world.openAudio(lane);
      return {
        openCapture: guardCapture(audio.openCapture, defects),
        openPlayback: guardPlayback(audio.openPlayback, defects),
        createEchoDetector: guardEchoDetectors(audio.createEchoDetector ?? createEchoDetector, defects),
      };
    },
  };
  return { world: guarded, defects };
}
