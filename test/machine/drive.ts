import type { Failed, Machine, Typed } from '../../src/machine/machine.ts';
import { asWall } from '../../src/protocol/common/time.ts';

/** A machine in virtual time, with a record of its effects. Answers to an effect are taken at once, before the next event. */
export interface Driver<State, Event extends Typed, Effect extends Typed, Facts> {
  readonly now: number;
  readonly state: State;
  /** All effects so far. */
  readonly effects: readonly Effect[];
  post(...events: (Event | Failed<Effect>)[]): this;
  /** Lets time pass; the machine wakes when it wants to. */
  pass(ms: number): this;
  /** Lets time pass without waking the machine, as in a program that is busy. */
  stall(ms: number): this;
  /** Jumps to the next moment at which the machine wakes. */
  wake(): this;
  /** From now on the outside answers each effect with this event; null: with none. */
  answer(reply: (effect: Effect) => Event | null): this;
  /** All effects of one type so far, with their times. */
  all<Type extends Effect['type']>(
    type: Type,
  ): readonly (Extract<Effect, { readonly type: Type }> & { readonly at: number })[];
  /** What the machine sees from now on. */
  see(facts: Partial<Facts>): this;
  /** The effects since the last call. */
  fresh(): readonly Effect[];
  /** Sets the wall clock, which runs on from there; null: it is not set. */
  setWall(wall: number | null): this;
}

/** @param now not 0, to find code that takes 0 for "never" */
export function drive<State, Event extends Typed, Effect extends Typed, Facts>(
  machine: Machine<State, Event, Effect, Facts>,
  begin: Facts,
  { now = 1_000_000, wall = Date.UTC(2026, 0, 15, 9) }: { now?: number; wall?: number | null } = {},
): Driver<State, Event, Effect, Facts> {
  const seen: { readonly at: number; readonly effect: Effect }[] = [];
  let state = machine.begin;
  let facts = begin;
  let wallOffset = wall === null ? null : wall - now;
  let reply: (effect: Effect) => Event | null = () => null;
  let read = 0;

  const take = (event: Parameters<typeof machine.step>[1]): void => {
    const wall = wallOffset === null ? null : asWall(now + wallOffset);
    const next = machine.step(state, event, { ...facts, now, wall });
    state = next.state;
    for (const effect of next.effects) seen.push({ at: now, effect });
    for (const effect of next.effects) {
      const answer = reply(effect);
      if (answer !== null) take(answer);
    }
  };

  const wakeAt = (at: number): void => {
    now = Math.max(now, at);
    take({ type: 'time' });
    const next = machine.wakeAt(state);
    if (next !== null && next <= now) throw new Error(`${machine.name}: "time" does not move wakeAt on`);
  };

  return {
    get now() {
      return now;
    },
    get state() {
      return state;
    },
    get effects() {
      return seen.map(({ effect }) => effect);
    },
    post(...events) {
      for (const event of events) take(event);
      return this;
    },
    pass(ms) {
      const end = now + ms;
      for (let at = machine.wakeAt(state); at !== null && at <= end; at = machine.wakeAt(state)) wakeAt(at);
      now = end;
      return this;
    },
    stall(ms) {
      now += ms;
      return this;
    },
    wake() {
      const at = machine.wakeAt(state);
      if (at === null) throw new Error(`${machine.name}: nothing to wake for`);
      wakeAt(at);
      return this;
    },
    answer(next) {
      reply = next;
      return this;
    },
    all: (type) => seen.flatMap(({ at, effect }) => (isOf(effect, type) ? [{ ...effect, at }] : [])),
    see(next) {
      facts = { ...facts, ...next };
      return this;
    },
    fresh() {
      const fresh = seen.slice(read).map(({ effect }) => effect);
      read = seen.length;
      return fresh;
    },
    setWall(next) {
      wallOffset = next === null ? null : next - now;
      return this;
    },
  };
}

function isOf<Effect extends Typed, Type extends Effect['type']>(
  effect: Effect,
  type: Type,
): effect is Extract<Effect, { readonly type: Type }> {
  return effect.type === type;
}
