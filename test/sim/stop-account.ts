/** Translated speech that waited when a lane was stopped is told when the lane has ended, before the device can be offline. */
import type { LaneStep } from '../../src/agent/lane/lane-runner.ts';
import type { LaneState } from '../../src/core/lane/state.ts';
import { bytesOf, OWN_STREAM } from '../../src/core/playout/sentences.ts';
import { isStoppedByHold } from './losses.ts';
import type { Violations } from './violations.ts';

/** Less than this need not be told. */
const LEAST_MS = 200;

export interface StopAccount {
  step(step: LaneStep): void;
  /** The process has ended: what it has not told it will not tell. */
  ended(): void;
}

export function createStopAccount(violations: Violations): StopAccount {
  let owedMs = 0;
  return {
    step({ before, after, event, effects }) {
      const isStop = event.type === 'stop' || event.type === 'shutdown' || isStoppedByHold(before, after);
      // Without a loudspeaker it is told as not heard.
      if (isStop && !before.playbackLost) owedMs += Math.max(0, waitingMs(before) - waitingMs(after));
      if (owedMs === 0 || after.session.kind === 'draining') return;
      const told = effects.flatMap((effect) =>
        effect.type === 'notify' && effect.kind === 'speech_dropped' && effect.detail['why'] === 'stop'
          ? [Number(effect.detail['dropped_ms'])]
          : [],
      );
      const toldMs = told.reduce((sum, ms) => sum + ms, 0);
      violations.check(
        'told',
        toldMs >= owedMs - LEAST_MS,
        () => `${owedMs} ms waited for the loudspeaker at a stop, and ${toldMs} ms are told`,
      );
      owedMs = 0;
    },
    ended() {
      owedMs = 0;
    },
  };
}

function waitingMs({ playout, settings }: LaneState): number {
  const spoken = playout.utterances.filter(({ stream }) => stream !== OWN_STREAM);
  return spoken.reduce((sum, one) => sum + bytesOf(one), 0) / settings.playoutBytesPerMs;
}
