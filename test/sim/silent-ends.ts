/** What a service took that was left because it said nothing is counted as lost by the device, all of it. */
import type { LaneStep } from '../../src/agent/lane/lane-runner.ts';
import { hearingStream } from '../../src/core/lane/session/session.ts';
import { isDoubtful } from '../../src/core/lane/session/silence.ts';
import type { Violations } from './violations.ts';

const CHUNK_MS = 320;
const TICK_MS = 20;
/** A connection is over so soon after the lane has left it. */
const CLOSED_WITHIN_MS = 2000;
/** What is soft at the edges of words is a pause to a lane. */
const EDGES = 0.15;
const SLACK_MS = 1000;
const MOST_ENDS = 100;

export interface SilentEnds {
  step(step: LaneStep, now: number): void;
  /** Speech was sent on a connection and is said by nobody: the outage was too long. @param overAt when it was over */
  swallowed(overAt: number): void;
}

interface End {
  readonly at: number;
  readonly countedMs: number;
  swallowedMs: number;
  isTold: boolean;
}

export function createSilentEnds(violations: Violations): SilentEnds {
  const ends: End[] = [];
  return {
    step({ before, after, effects }, now) {
      const isSilent = effects.some(
        (effect) =>
          effect.type === 'notify' &&
          effect.kind === 'session_ended' &&
          effect.detail['cause'] === 'silent_service',
      );
      const left = hearingStream(before.session)?.id;
      const isLeft = effects.some((effect) => effect.type === 'close_stream' && effect.stream === left);
      // After two in a row it may as well be noise that is taken for speech.
      if (!isSilent || !isLeft || isDoubtful(before.silentEnds, now)) return;
      const countedMs = (after.backlog.accounts.lost - before.backlog.accounts.lost) * CHUNK_MS;
      ends.push({ at: now, countedMs, swallowedMs: 0, isTold: false });
      if (ends.length > MOST_ENDS) ends.shift();
    },
    swallowed(overAt) {
      const end = ends.findLast(({ at }) => overAt >= at && overAt - at <= CLOSED_WITHIN_MS);
      if (end === undefined) return;
      end.swallowedMs += TICK_MS;
      if (end.isTold || end.swallowedMs * (1 - EDGES) <= end.countedMs + SLACK_MS) return;
      end.isTold = true;
      violations.add(
        'told',
        `a silent service took more than ${end.swallowedMs} ms of speech, and ${end.countedMs} ms are counted`,
      );
    },
  };
}
