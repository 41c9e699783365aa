import type { Clock } from '../../ports/clock.ts';
import { CommandError } from '../commands/command-request.ts';
import type { LaneEffect, SaidOutcome } from '../lane/lane-effect.ts';
import type { Speaker } from '../lane/lane-options.ts';
import type { LaneRunner, LaneStep } from '../lane/runner/lane-runner.ts';
import { canSay, turnBefore } from '../lane/session/operator-text.ts';
import { playsFrom } from '../lane/two-way/two-way.ts';
import { textPieces } from './text-pieces.ts';

/** Maximum number of texts queued per lane. */
const MOST_WAITING = 8;
/** Longest wait for a pause (ms); then the text is spoken after the present sentence. */
const POLITE_FOR_MS = 20_000;
/** Time limit for the start of a text (ms). */
const BEGINS_WITHIN_MS = 90_000;
/** Time limit for one piece (ms): a lane that lost its result would block the others. */
const LONGEST_PIECE_MS = 200_000;
const LOOK_EACH_MS = 500;

export interface Speech {
  readonly text: string;
  readonly language: string;
  readonly translate: boolean;
  /** Whether the text may begin now; it waits while this is false. Default: it begins in a pause, or after 20 s. */
  readonly mayBegin?: () => boolean;
  /** Typed by a visitor: it is dropped when the conversation ends. */
  readonly isTyped?: boolean;
}

export interface SayQueueDeps {
  readonly clock: Clock;
  readonly lanes: readonly LaneRunner[];
  watch(listener: (step: LaneStep) => void): () => void;
}

/** The operator's texts, oldest first. */
export interface SayQueue {
  /** Resolves with the milliseconds heard in each lane. @throws CommandError, at once or later */
  say(lanes: readonly LaneRunner[], speech: Speech): Promise<readonly number[]>;
  /** The conversation at these lanes has ended: a visitor's typed text is not spoken to the next visitor. */
  dropTyped(lanes: readonly LaneRunner[]): void;
  /** A lane was added or removed. */
  lanesChanged(): void;
  close(): void;
}

type Said = Extract<LaneEffect, { type: 'said' }>;

interface Waiting {
  readonly speech: Speech;
  /** When the current piece began to wait. */
  since: number;
  readonly done: (result: number | CommandError) => void;
  pieces: readonly string[];
  playedMs: number;
  /** The piece that the lane speaks, and its time limit; null: none. */
  asked: { readonly id: string; readonly until: number } | null;
  /** Whether its piece has taken the turn, for lanes where a key selects the speaker. */
  hasTurned: boolean;
}

/** Reasons for a text that was not heard, for the operator. */
const WHY: Readonly<Record<Exclude<SaidOutcome, 'played' | 'not_live' | 'refused' | 'unsupported'>, string>> =
  {
    silent: 'the service did not begin to speak it within 15 s: it may not support this language',
    cut: 'part of the text was dropped unheard: a visitor spoke over it, or too much sound was waiting',
    lost: 'the session ended before it was heard; send it again',
  };
const NO_TURN =
  'another person took the turn, or the service does not translate in this direction; send it again';

export function createSayQueue({ clock, lanes, watch }: SayQueueDeps): SayQueue {
  const queues = new Map<string, Waiting[]>();
  /** When each lane last finished or failed a piece: until then it had a session, so the next texts did not wait for one. */
  const lastPieceAt = new Map<string, number>();
  let count = 0;
  let cancel = (): void => {};

  const settle = (lane: LaneRunner, result: number | CommandError): void => {
    const queue = queues.get(lane.id) ?? [];
    queue.shift()?.done(result);
    look();
  };

  /** Makes the service change direction, as a key press does. */
  const takeTurn = (lane: LaneRunner, text: Waiting, speaker: Speaker): void => {
    const now = clock.now();
    if (lane.state.twoWay.speaker === speaker) return;
    if (text.hasTurned) return settle(lane, new CommandError('not_spoken', NO_TURN));
    if (canSay(lane.state, now) !== 'quiet' || playsFrom(lane.state, now) > now) return;
    text.hasTurned = true;
    for (const held of [true, false]) lane.post({ type: 'turn', speaker, held });
  };

  /** Sends the next piece of the first text to the lane, if the lane can speak. */
  const proceed = (lane: LaneRunner): void => {
    const [first] = queues.get(lane.id) ?? [];
    if (first === undefined) return;
    const now = clock.now();
    if (first.asked !== null) {
      if (now < first.asked.until) return;
      lastPieceAt.set(lane.id, now);
      return settle(lane, new CommandError('not_spoken', WHY.lost));
    }
    const problem = problemOf(lane);
    if (problem !== null) return settle(lane, problem);
    const isBegun = first.playedMs > 0;
    const waitsSince = Math.max(first.since, lastPieceAt.get(lane.id) ?? first.since);
    if (now - waitsSince >= BEGINS_WITHIN_MS) {
      const message = `lane "${lane.id}" had no session for the text within ${BEGINS_WITHIN_MS / 1000} s`;
      return settle(lane, new CommandError('not_spoken', message));
    }
    if (lane.phase === 'standby') lane.post({ type: 'start' });
    const can = canSay(lane.state, now);
    const { mayBegin = () => can === 'quiet' || now - first.since >= POLITE_FOR_MS } = first.speech;
    if (can === 'no' || (!isBegun && !mayBegin())) return;
    const { language, translate } = first.speech;
    const speaker = translate ? turnBefore(lane.state, language) : null;
    if (speaker !== null) return takeTurn(lane, first, speaker);
    const [text = ''] = first.pieces;
    count += 1;
    const id = `say-${count}`;
    first.asked = { id, until: now + LONGEST_PIECE_MS };
    lane.post({ type: 'say', id, text, language, translate });
  };

  /** Handles the lane's report on its piece. */
  const follow = (lane: LaneRunner, text: Waiting, { outcome, message, playedMs }: Said): void => {
    if (outcome !== 'not_live') lastPieceAt.set(lane.id, clock.now());
    switch (outcome) {
      case 'played':
        text.playedMs += playedMs;
        text.since = clock.now();
        text.hasTurned = false;
        text.pieces = text.pieces.slice(1);
        return text.pieces.length === 0 ? settle(lane, text.playedMs) : look();
      case 'not_live':
        // The lane could not speak at that moment: the next check tries again.
        return;
      case 'refused':
        return settle(lane, new CommandError('rejected', `the service says: ${message ?? 'no'}`));
      case 'unsupported':
        return settle(
          lane,
          new CommandError(
            'unsupported',
            `the service does not speak texts of operators: ${message ?? 'no'}`,
          ),
        );
      default:
        return settle(lane, new CommandError('not_spoken', WHY[outcome]));
    }
  };

  const look = (): void => {
    cancel();
    for (const lane of lanes) proceed(lane);
    if ([...queues.values()].every((queue) => queue.length === 0)) return;
    cancel();
    cancel = clock.at(clock.now() + LOOK_EACH_MS, look);
  };

  const unwatch = watch(({ lane: id, effects }) => {
    const lane = lanes.find((one) => one.id === id);
    for (const effect of effects) {
      const [first] = queues.get(id) ?? [];
      if (effect.type !== 'said' || lane === undefined || first?.asked?.id !== effect.id) continue;
      first.asked = null;
      follow(lane, first, effect);
    }
  });

  const crowdOf = ({ id }: LaneRunner): CommandError | null => {
    const { length } = queues.get(id) ?? [];
    if (length < MOST_WAITING) return null;
    const message = `${length} texts are already waiting for lane "${id}": send the text again later`;
    return new CommandError('busy', message);
  };
  const enqueue = async (lane: LaneRunner, speech: Speech): Promise<number> => {
    const result = await new Promise<number | CommandError>((done) => {
      const pieces = textPieces(speech.text);
      const queue = queues.get(lane.id) ?? [];
      queue.push({
        speech,
        since: clock.now(),
        done,
        pieces,
        playedMs: 0,
        asked: null,
        hasTurned: false,
      });
      queues.set(lane.id, queue);
      look();
    });
    if (result instanceof CommandError) throw result;
    return result;
  };

  return {
    say(chosen, speech) {
      for (const lane of chosen) {
        const problem = problemOf(lane) ?? crowdOf(lane);
        if (problem !== null) throw problem;
      }
      return Promise.all(chosen.map((lane) => enqueue(lane, speech)));
    },
    dropTyped(chosen) {
      const isDropped = ({ speech, asked }: Waiting): boolean => speech.isTyped === true && asked === null;
      for (const { id } of chosen) {
        const queue = queues.get(id) ?? [];
        queues.set(
          id,
          queue.filter((text) => !isDropped(text)),
        );
        const problem = new CommandError('not_spoken', 'the conversation has ended');
        for (const text of queue) if (isDropped(text)) text.done(problem);
      }
    },
    lanesChanged() {
      for (const [id, queue] of queues) {
        if (lanes.some((lane) => lane.id === id)) continue;
        queues.delete(id);
        lastPieceAt.delete(id);
        for (const { done } of queue) done(new CommandError('not_spoken', `lane "${id}" was removed`));
      }
    },
    close() {
      cancel();
      unwatch();
    },
  };
}

/** Why a lane will not speak soon; null: it may. */
function problemOf({ id, phase, state }: LaneRunner): CommandError | null {
  const { hold, wanted, problem, playbackLost } = state;
  if (hold === 'closed')
    return new CommandError(
      'closed',
      `lane "${id}" is outside its opening hours: send start with "until" first`,
    );
  if (hold === 'budget')
    return new CommandError('budget', 'the minutes of the day are used up (budget.minutesPerDay)');
  if (!wanted || state.ending)
    return new CommandError('not_spoken', `lane "${id}" is stopped: send start first`);
  if (phase === 'parked')
    return new CommandError(
      'not_spoken',
      `lane "${id}" gets no session: ${problem?.message ?? 'it is refused'}`,
    );
  if (playbackLost)
    return new CommandError('not_spoken', `the loudspeaker of lane "${id}" is lost: plug it in again`);
  return null;
}
