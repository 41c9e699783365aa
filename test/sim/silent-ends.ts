/**
 * What a service took that was left because it said nothing is counted as lost by the device, all of it, and no more. After two
 * such ends in a row it may wait until a stream understands something: in these worlds no noise is taken for speech.
 */
import type { LaneStep } from '../../src/agent/lane/lane-runner.ts';
import { hearingStream } from '../../src/core/lane/session/session.ts';
import { isDoubtful, isText } from '../../src/core/lane/session/silence.ts';
import type { Violations } from './violations.ts';

const CHUNK_MS = 320;
const TICK_MS = 20;
/** A connection is over so soon after the lane has left it. */
const CLOSED_WITHIN_MS = 2000;
/** A lane notices so late that a connection is over. */
const NOTICED_WITHIN_MS = 20_000;
/** What is soft at the edges of words is a pause to a lane. */
const EDGES = 0.15;
/** A chunk counts whole, however little of it is speech, and short pauses count with what is around them. */
const LARGER = 2;
const SLACK_MS = 1000;
/** Less than this of speech is a cough to a lane, where a stream is not left for it. */
const COUGH_MS = 3200;
const MORE_SLACK_MS = 5000;
/** All that was sent by then has been judged. */
const JUDGED_AFTER_MS = 260_000;
const MOST_ENDS = 100;

export interface SilentEnds {
  step(step: LaneStep, now: number): void;
  /**
   * Speech was sent on a connection and is said by nobody.
   * @param overAt when it was over
   * @param isSwallowed the outage was too long
   */
  unsaid(overAt: number, isSwallowed: boolean): void;
  /** The process is gone, and what it had in mind. */
  ended(): void;
  judge(now: number): void;
}

/** What the device has counted of one end, or of several that it had in doubt. */
interface Sum {
  countedMs: number;
  swallowedMs: number;
  unsaidMs: number;
  readonly wasInDoubt: boolean;
  slackMs: number;
  /** Since when the device has no reason to wait; null: it may. */
  settledAt: number | null;
  isTold: boolean;
}

interface End {
  readonly at: number;
  readonly sum: Sum;
}

function createSum(wasInDoubt: boolean): Sum {
  return {
    countedMs: 0,
    swallowedMs: 0,
    unsaidMs: 0,
    wasInDoubt,
    slackMs: SLACK_MS,
    settledAt: null,
    isTold: false,
  };
}

/** Which stream has shown in this step that it understands something; null: none. */
function understands({ event }: LaneStep): number | null {
  if (event.type !== 'message') return null;
  const { stream, message } = event;
  return isText(message) || message.message_type === 'output_audio' ? stream : null;
}

function endsSilently({ before, effects }: LaneStep): boolean {
  const left = hearingStream(before.session)?.id;
  const isLeft = effects.some((effect) => effect.type === 'close_stream' && effect.stream === left);
  return isLeft && effects.some((one) => one.type === 'notify' && one.detail['cause'] === 'silent_service');
}

export function createSilentEnds(violations: Violations): SilentEnds {
  const ends: End[] = [];
  /** Streams that hear no more and were not over when the doubt was. */
  const closing = new Map<number, Sum>();
  let doubt: Sum | null = null;
  const add = (end: End): void => {
    ends.push(end);
    if (ends.length > MOST_ENDS) ends.shift();
  };
  const judgeLess = (sum: Sum): void => {
    const { countedMs, swallowedMs, slackMs, settledAt, isTold } = sum;
    if (settledAt === null || isTold || swallowedMs * (1 - EDGES) <= countedMs + slackMs) return;
    sum.isTold = true;
    violations.add(
      'told',
      `a silent service took more than ${swallowedMs} ms of speech, and ${countedMs} ms are counted`,
    );
  };
  const noteDoubt = (step: LaneStep, now: number): void => {
    const { before, after, effects } = step;
    const isInDoubt = isDoubtful(before.silentEnds, now);
    const countedMs = (after.backlog.accounts.lost - before.backlog.accounts.lost) * CHUNK_MS;
    if (isInDoubt) doubt ??= createSum(true);
    const old = after.oldSession?.stream.id;
    if (doubt !== null && old !== undefined && before.oldSession?.stream.id !== old) closing.set(old, doubt);
    for (const effect of effects) {
      if (effect.type !== 'close_stream') continue;
      const sum = closing.get(effect.stream) ?? (isInDoubt ? doubt : null);
      closing.delete(effect.stream);
      if (sum === null) continue;
      add({ at: now, sum });
      // Of what is taken back not all may have room.
      sum.countedMs += countedMs;
      sum.slackMs += COUGH_MS;
    }
    const stream = understands(step);
    if (doubt === null || stream === null) return;
    if (hearingStream(before.session)?.id === stream) doubt.settledAt = now;
    doubt.countedMs += countedMs;
    judgeLess(doubt);
    doubt = null;
  };
  return {
    step(step, now) {
      const { before, after } = step;
      if (!isDoubtful(before.silentEnds, now) && endsSilently(step)) {
        const countedMs = (after.backlog.accounts.lost - before.backlog.accounts.lost) * CHUNK_MS;
        add({ at: now, sum: { ...createSum(false), countedMs, settledAt: now } });
      }
      noteDoubt(step, now);
    },
    unsaid(overAt, isSwallowed) {
      const [end] = ends
        .filter(({ at, sum }) => {
          const noticedMs = sum.wasInDoubt ? NOTICED_WITHIN_MS : 0;
          return overAt >= at - noticedMs && overAt - at <= CLOSED_WITHIN_MS;
        })
        .toSorted((one, other) => Math.abs(one.at - overAt) - Math.abs(other.at - overAt));
      if (end === undefined) return;
      end.sum.unsaidMs += TICK_MS;
      if (isSwallowed) end.sum.swallowedMs += TICK_MS;
      judgeLess(end.sum);
    },
    ended() {
      doubt = null;
      closing.clear();
    },
    judge(now) {
      for (const { sum } of ends) {
        const { countedMs, unsaidMs, wasInDoubt, settledAt } = sum;
        if (!wasInDoubt || sum.isTold || settledAt === null || now - settledAt < JUDGED_AFTER_MS) continue;
        sum.isTold = true;
        violations.check(
          'told',
          countedMs <= unsaidMs * LARGER + MORE_SLACK_MS,
          () => `silent services took ${unsaidMs} ms of speech, and ${countedMs} ms are counted`,
        );
      }
    },
  };
}
