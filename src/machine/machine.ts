import type { MonotonicMs, WallMs } from '../protocol/common/time.ts';

/** Events and effects are plain objects of readonly data; `type` tells them apart. */
export interface Typed {
  readonly type: string;
}

/** The time of a step, on both clocks. `wall` is null while the computer's clock is not set. */
export interface Moment {
  readonly now: MonotonicMs;
  readonly wall: WallMs | null;
}

/** The facts of a machine that needs only its state and the time. */
export type NoFacts = object;

/** The time that `wakeAt` named has come. */
export interface Time {
  readonly type: 'time';
}

/** The handler of an effect threw. The runner has reported the exception. */
export interface Failed<Effect> {
  readonly type: 'failed';
  readonly effect: Effect;
}

export interface Step<State, Effect> {
  readonly state: State;
  readonly effects: readonly Effect[];
}

/**
 * Decides and does not act. It has no clock, timer, promise or randomness: what happens comes in as events, and actions
 * go out as effects. `Facts` is what the machine needs to know of the rest of the program at the moment of the step.
 */
export interface Machine<State, Event extends Typed, Effect extends Typed, Facts = NoFacts> {
  /** Stands in the report of a defect. */
  readonly name: string;
  /** The first state. */
  readonly begin: State;
  step(state: State, event: Event | Time | Failed<Effect>, facts: Facts & Moment): Step<State, Effect>;
  /** Time of the next event `time`; null: none. A step with `time` at this time must move it on, or return null. */
  wakeAt(state: State): MonotonicMs | null;
}

/**
 * Act: one function for each type of effect. The event that a function returns, now or later, is posted to the machine.
 * Where an effect has several results, such as each message of a connection, the handler posts them itself.
 */
export type Handlers<Event extends Typed, Effect extends Typed> = {
  readonly [Type in Effect['type']]: (
    effect: Extract<Effect, { readonly type: Type }>,
  ) => Outcome<Event> | Promise<Outcome<Event>>;
};

/** Not `void`, because a handler could then return anything by mistake. */
export type Outcome<Event> = Event | undefined;

/** A machine that runs. */
export interface Running<State, Event> {
  readonly state: State;
  post(event: Event): void;
  /** No further step is taken. */
  close(): void;
}

/** The step that keeps the state and has no effects. */
export function stay<State, Effect>(state: State): Step<State, Effect> {
  return { state, effects: [] };
}

/** A second step after the first one, with the effects of both. */
export function followedBy<State, Effect>(
  first: Step<State, Effect>,
  next: (state: State) => Step<State, Effect>,
): Step<State, Effect> {
  const { state, effects } = next(first.state);
  return { state, effects: [...first.effects, ...effects] };
}
