/** Texts that an operator or visitor has spoken: when each lane speaks the next piece, and what becomes of it. */

import {
  type Failed,
  followedBy,
  type Machine,
  type Moment,
  type Step,
  stay,
  type Time,
} from '../../machine/machine.ts';
import type { MonotonicMs } from '../../protocol/common/time.ts';
import type { Phase } from '../../protocol/phases.ts';
import { canSay, turnBefore } from '../lane/session/operator-text.ts';
import type { LaneEffect, SaidOutcome } from '../lane/state/lane-effect.ts';
import type { Speaker } from '../lane/state/lane-options.ts';
import type { LaneState } from '../lane/state/lane-state.ts';
import { playsFrom } from '../lane/two-way/two-way.ts';
import { maySpeakNotice } from './notice-rules.ts';
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
  /** Lanes that must all be quiet before the text begins. Default: it begins in a pause of its own lane, or after 20 s. */
  readonly desk?: readonly string[];
  /** Typed by a visitor: it is dropped when the conversation ends. */
  readonly isTyped?: boolean;
}

interface Text {
  readonly lane: string;
  /** The caller who waits for the answer; it also identifies the text. */
  readonly caller: number;
  readonly speech: Speech;
  /** When the text came. */
  readonly since: MonotonicMs;
  /** Start of the time limit: when the text came, or when the lane's last piece ended, if that was later. */
  readonly limitFrom: MonotonicMs;
  readonly pieces: readonly string[];
  readonly playedMs: number;
  /** The piece that the lane speaks, and its time limit; null: none. */
  readonly asked: { readonly id: string; readonly until: MonotonicMs } | null;
  /** Whether its piece has taken the turn, for lanes where a key selects the speaker. */
  readonly hasTurned: boolean;
}

export interface SayState {
  /** Oldest first. Each lane speaks the first one of its own. */
  readonly texts: readonly Text[];
  /** Number of pieces so far: each has an id of its own. */
  readonly count: number;
  /** Time of the next look at the lanes, while there are texts. */
  readonly lookAt: MonotonicMs;
}

/** A lane as it is at this moment. */
export interface SeenLane {
  readonly id: string;
  readonly phase: Phase;
  readonly state: LaneState;
}

export interface SayFacts {
  readonly lanes: readonly SeenLane[];
}

/** The outcome of a piece. */
type Said = Extract<LaneEffect, { readonly type: 'said' }>;

export type SayEvent =
  | { readonly type: 'say'; readonly lane: string; readonly caller: number; readonly speech: Speech }
  | { readonly type: 'said'; readonly lane: string; readonly said: Said }
  /** The conversation at these lanes has ended. */
  | { readonly type: 'drop_typed'; readonly lanes: readonly string[] }
  /** A lane was added or removed. */
  | { readonly type: 'lanes_changed' }
  /** A step threw, and all callers got an error: no text is spoken after its error. */
  | { readonly type: 'reset' };

export type SayEffect =
  | { readonly type: 'start_lane'; readonly lane: string }
  /** The service changes direction, as with a key press. */
  | { readonly type: 'take_turn'; readonly lane: string; readonly speaker: Speaker }
  | {
      readonly type: 'speak';
      readonly lane: string;
      readonly id: string;
      readonly text: string;
      readonly language: string;
      readonly translate: boolean;
    }
  | { readonly type: 'answer'; readonly caller: number; readonly answer: SayAnswer };

/** `playedMs`: milliseconds heard. */
export type SayAnswer = { readonly ok: true; readonly playedMs: number } | Refusal;

export interface Refusal {
  readonly ok: false;
  readonly code: string;
  readonly message: string;
}

type Seen = SayFacts & Moment;
type Stepped = Step<SayState, SayEffect>;

export const sayMachine: Machine<SayState, SayEvent, SayEffect, SayFacts> = {
  name: 'say',
  begin: { texts: [], count: 0, lookAt: 0 },
  step,
  wakeAt: ({ texts, lookAt }) => (texts.length === 0 ? null : lookAt),
};

/** Reasons for a text that was not heard, for the operator. */
const WHY: Readonly<Record<Exclude<SaidOutcome, 'played' | 'not_live' | 'refused' | 'unsupported'>, string>> =
  {
    silent: 'the service did not begin to speak it within 15 s: it may not support this language',
    cut: 'part of the text was dropped unheard: a visitor spoke over it, or too much sound was waiting',
    lost: 'the session ended before it was heard; send it again',
  };
const NO_TURN =
  'another person took the turn, or the service does not translate in this direction; send it again';

function step(state: SayState, event: SayEvent | Time | Failed<SayEffect>, seen: Seen): Stepped {
  switch (event.type) {
    case 'say':
      return onSay(state, event, seen);
    case 'said':
      return onSaid(state, event, seen);
    case 'time':
      return onTime(state, seen);
    case 'drop_typed':
      return dropTyped(state, event.lanes);
    case 'lanes_changed':
      return dropRemoved(state, seen);
    case 'reset':
      return stay({ ...state, texts: [] });
    case 'failed':
      // Each wait has a time limit.
      return stay(state);
  }
}

/**
 * If another text of the lane is waiting, the new one only joins the queue. A check of the lane now would see its state from
 * before the effects of the last step.
 */
function onSay(
  { texts, count, lookAt }: SayState,
  { lane, caller, speech }: Extract<SayEvent, { type: 'say' }>,
  seen: Seen,
): Stepped {
  const text: Text = {
    lane,
    caller,
    speech,
    since: seen.now,
    limitFrom: seen.now,
    pieces: textPieces(speech.text),
    playedMs: 0,
    asked: null,
    hasTurned: false,
  };
  const state = {
    texts: [...texts, text],
    count,
    lookAt: texts.length === 0 ? seen.now + LOOK_EACH_MS : lookAt,
  };
  return firstOf(state, lane) === text ? proceed(state, lane, seen) : stay(state);
}

function onSaid(state: SayState, { lane, said }: Extract<SayEvent, { type: 'said' }>, seen: Seen): Stepped {
  const text = firstOf(state, lane);
  if (text === undefined || text.asked?.id !== said.id) return stay(state);
  // The lane could not speak at that moment: the next look tries again.
  if (said.outcome === 'not_live') return stay(change(state, text, { asked: null }));
  const ended = endPiece(state, lane, seen.now);
  if (said.outcome !== 'played') return settle(ended, text, failureOf(said.outcome, said.message), seen);
  const pieces = text.pieces.slice(1);
  const playedMs = text.playedMs + said.playedMs;
  if (pieces.length === 0) return settle(ended, text, { ok: true, playedMs }, seen);
  const next = { pieces, playedMs, asked: null, hasTurned: false };
  return proceed(change(ended, text, next), lane, seen);
}

function failureOf(outcome: Exclude<SaidOutcome, 'played' | 'not_live'>, message: string | null): Refusal {
  switch (outcome) {
    case 'refused':
      return refusal('rejected', `the service says: ${message ?? 'no'}`);
    case 'unsupported':
      return refusal('unsupported', `the service does not speak texts of operators: ${message ?? 'no'}`);
    default:
      return refusal('not_spoken', WHY[outcome]);
  }
}

function onTime(state: SayState, seen: Seen): Stepped {
  const lanes = [...new Set(state.texts.map(({ lane }) => lane))];
  return lanes.reduce(
    (stepped, lane) => followedBy(stepped, (next) => proceed(next, lane, seen)),
    stay<SayState, SayEffect>({ ...state, lookAt: seen.now + LOOK_EACH_MS }),
  );
}

/** A visitor's typed text is not spoken to the next visitor. */
function dropTyped(state: SayState, lanes: readonly string[]): Stepped {
  const problem = refusal('not_spoken', 'the conversation has ended');
  return drop(state, ({ lane, speech, asked }) =>
    speech.isTyped === true && asked === null && lanes.includes(lane) ? problem : null,
  );
}

function dropRemoved(state: SayState, { lanes }: Seen): Stepped {
  return drop(state, ({ lane }) => (lanes.some(({ id }) => id === lane) ? null : removed(lane)));
}

/** Sends the next piece of a lane's first text, if the lane can speak. */
function proceed(state: SayState, id: string, seen: Seen): Stepped {
  const text = firstOf(state, id);
  if (text === undefined) return stay(state);
  const lane = seen.lanes.find((one) => one.id === id);
  if (lane === undefined) return settle(state, text, removed(id), seen);
  const { now } = seen;
  if (text.asked !== null) {
    if (now < text.asked.until) return stay(state);
    return settle(endPiece(state, id, now), text, refusal('not_spoken', WHY.lost), seen);
  }
  const problem = problemOf(lane) ?? lateness(text, lane, now);
  if (problem !== null) return settle(state, text, problem, seen);
  if (lane.phase === 'standby') return { state, effects: [{ type: 'start_lane', lane: id }] };
  if (!mayBegin(state, text, lane, seen)) return stay(state);
  const { language, translate } = text.speech;
  const speaker = translate ? turnBefore(lane.state, language) : null;
  return speaker === null ? speak(state, text, now) : takeTurn(state, text, lane, speaker, seen);
}

/** The refusal of a text that could not begin in time; null: it still has time. */
function lateness({ limitFrom }: Text, { id, state }: SeenLane, now: MonotonicMs): Refusal | null {
  if (now - limitFrom < BEGINS_WITHIN_MS) return null;
  const missing = canSay(state, now) === 'no' ? 'session' : 'pause';
  return refusal(
    'not_spoken',
    `lane "${id}" had no ${missing} for the text within ${BEGINS_WITHIN_MS / 1000} s`,
  );
}

function mayBegin(
  { texts }: SayState,
  { speech: { desk }, since, playedMs }: Text,
  { state }: SeenLane,
  { lanes, now }: Seen,
): boolean {
  const can = canSay(state, now);
  if (can === 'no' || playedMs > 0) return can !== 'no';
  if (desk === undefined) return can === 'quiet' || now - since >= POLITE_FOR_MS;
  // `lanes` does not show yet that a lane was asked to speak earlier in this step.
  const isAsked = texts.some(({ lane, asked }) => asked !== null && desk.includes(lane));
  const states = lanes.flatMap((lane) => (desk.includes(lane.id) ? [lane.state] : []));
  return !isAsked && maySpeakNotice(state, states, now);
}

/** Makes the service change direction, as a key press does. */
function takeTurn(
  state: SayState,
  text: Text,
  { id, state: lane }: SeenLane,
  speaker: Speaker,
  seen: Seen,
): Stepped {
  const { now } = seen;
  if (lane.twoWay.speaker === speaker) return stay(state);
  if (text.hasTurned) return settle(state, text, refusal('not_spoken', NO_TURN), seen);
  if (canSay(lane, now) !== 'quiet' || playsFrom(lane, now) > now) return stay(state);
  return {
    state: change(state, text, { hasTurned: true }),
    effects: [{ type: 'take_turn', lane: id, speaker }],
  };
}

function speak(state: SayState, text: Text, now: MonotonicMs): Stepped {
  const count = state.count + 1;
  const id = `say-${count}`;
  const { lane, speech, pieces } = text;
  const { language, translate } = speech;
  return {
    state: { ...change(state, text, { asked: { id, until: now + LONGEST_PIECE_MS } }), count },
    effects: [{ type: 'speak', lane, id, text: pieces[0] ?? '', language, translate }],
  };
}

/** Answers a text, and proceeds with the next one of its lane. */
function settle(state: SayState, { lane, caller }: Text, answer: SayAnswer, seen: Seen): Stepped {
  const settled: Stepped = {
    state: { ...state, texts: state.texts.filter((one) => one.caller !== caller) },
    effects: [{ type: 'answer', caller, answer }],
  };
  return followedBy(settled, (next) => proceed(next, lane, seen));
}

/** Answers and removes each text for which there is a reason. */
function drop({ texts, ...rest }: SayState, reasonFor: (text: Text) => Refusal | null): Stepped {
  return {
    state: { ...rest, texts: texts.filter((text) => reasonFor(text) === null) },
    effects: texts.flatMap((text) => {
      const answer = reasonFor(text);
      return answer === null ? [] : [{ type: 'answer', caller: text.caller, answer }];
    }),
  };
}

/** A piece has ended, heard or not. All texts of the lane have their time limit anew: until now they waited for the piece. */
function endPiece(state: SayState, lane: string, now: MonotonicMs): SayState {
  const texts = state.texts.map((text) => (text.lane === lane ? { ...text, limitFrom: now } : text));
  return { ...state, texts };
}

function firstOf({ texts }: SayState, lane: string): Text | undefined {
  return texts.find((text) => text.lane === lane);
}

function change(state: SayState, { caller }: Text, changes: Partial<Text>): SayState {
  const texts = state.texts.map((text) => (text.caller === caller ? { ...text, ...changes } : text));
  return { ...state, texts };
}

function refusal(code: string, message: string): Refusal {
  return { ok: false, code, message };
}

function removed(lane: string): Refusal {
  return refusal('not_spoken', `lane "${lane}" was removed`);
}

/** Why a lane takes no further text now; null: it takes one. */
export function refusalOf({ texts }: SayState, lane: SeenLane): Refusal | null {
  const { length } = texts.filter((text) => text.lane === lane.id);
  const crowd = `${length} texts are already waiting for lane "${lane.id}": send the text again later`;
  return problemOf(lane) ?? (length < MOST_WAITING ? null : refusal('busy', crowd));
}

/** Why a lane will not speak soon; null: it may. */
function problemOf({ id, phase, state }: SeenLane): Refusal | null {
  const { hold, wanted, problem, playbackLost } = state;
  if (hold === 'closed')
    return refusal('closed', `lane "${id}" is outside its opening hours: send start with "until" first`);
  if (hold === 'budget')
    return refusal('budget', 'the minutes of the day are used up (budget.minutesPerDay)');
  if (!wanted || state.ending) return refusal('not_spoken', `lane "${id}" is stopped: send start first`);
  if (phase === 'parked')
    return refusal('not_spoken', `lane "${id}" gets no session: ${problem?.message ?? 'it is refused'}`);
  return playbackLost
    ? refusal('not_spoken', `the loudspeaker of lane "${id}" is lost: plug it in again`)
    : null;
}
