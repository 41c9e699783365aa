import type { Clock } from '../ports/clock.ts';
import { type Alarm, createAlarm } from './alarm.ts';
import type { Defects } from './defects.ts';
import { createEventLoop, type EventLoop } from './event-loop.ts';
import type { Failed, Handlers, Machine, Outcome, Running, Time, Typed } from './machine.ts';

/** Pause before a machine that threw at `time`, or did not move its `wakeAt`, is woken again (ms). */
const WAKE_AGAIN_MS = 1000;

export interface RunnerDeps {
  readonly clock: Clock;
  /** All machines of the program take their events from one loop, in order. */
  readonly loop: EventLoop;
  /** Gets the part that threw, such as `tokens.step.answer` or `tokens.publish`. */
  readonly defects: Defects;
}

/** Runs machines: one loop of events, and one alarm for the earliest `wakeAt` of all. */
export interface Runner {
  /**
   * @param facts read for each step
   * @param threw called with the event whose step has thrown, so that no caller waits for ever
   */
  run<State, Event extends Typed, Effect extends Typed, Facts>(
    machine: Machine<State, Event, Effect, Facts>,
    handlers: Handlers<Event, Effect>,
    facts: () => Facts,
    threw?: Threw<Event, Effect>,
  ): Running<State, Event>;
  /**
   * A runner with a loop of its own and the same alarm. The handlers of commands need it: they post to a lane and then read
   * the lane's state, and on the same loop the lane would take its event only after the handler.
   */
  apart(): Runner;
}

type Threw<Event, Effect> = (event: Event | Time | Failed<Effect>) => void;

export function createRunner(deps: RunnerDeps): Runner {
  return runnerOn(createAlarm(deps.clock), deps);
}

function runnerOn(alarm: Alarm, deps: RunnerDeps): Runner {
  const { defects } = deps;
  return {
    run: (machine, handlers, facts, threw = () => {}) =>
      runMachine(machine, handlers, facts, threw, deps, alarm),
    apart: () => runnerOn(alarm, { ...deps, loop: createEventLoop((error) => defects('event loop', error)) }),
  };
}

function runMachine<State, Event extends Typed, Effect extends Typed, Facts>(
  machine: Machine<State, Event, Effect, Facts>,
  handlers: Handlers<Event, Effect>,
  facts: () => Facts,
  threw: Threw<Event, Effect>,
  { clock, loop, defects }: RunnerDeps,
  alarm: Alarm,
): Running<State, Event> {
  let state = machine.begin;
  let isClosed = false;
  /** A machine that failed at its time is not woken before this. */
  let restUntil = Number.NEGATIVE_INFINITY;

  const post = (event: Event | Time | Failed<Effect>): void => loop.post(() => take(event));
  const sleeper = alarm.add(() => post({ type: 'time' }));

  const take = (event: Event | Time | Failed<Effect>): void => {
    if (isClosed) return;
    const isTime = event.type === 'time';
    const now = clock.now();
    const before = wakeTime();
    // A step that throws changes nothing.
    let effects: readonly Effect[] = [];
    try {
      const next = machine.step(state, event, { ...facts(), now, wall: clock.wall() });
      ({ state, effects } = next);
      const at = wakeTime();
      if (isTime && at !== null && before !== null && at <= now && at <= before)
        throw new Error('the step with "time" did not move `wakeAt`');
    } catch (error) {
      defects(`${machine.name}.step.${event.type}`, error);
      // Its time would come again at once.
      if (isTime) restUntil = now + WAKE_AGAIN_MS;
      threw(event);
    }
    sleep();
    for (const effect of effects) perform(effect);
  };

  const wakeTime = (): number | null => {
    try {
      return machine.wakeAt(state);
    } catch (error) {
      defects(`${machine.name}.wakeAt`, error);
      return clock.now() + WAKE_AGAIN_MS;
    }
  };
  const sleep = (): void => {
    const at = wakeTime();
    sleeper.sleepUntil(at === null ? null : Math.max(at, restUntil));
  };

  const perform = (effect: Effect): void => {
    const fail = (error: unknown): void => {
      defects(`${machine.name}.${effect.type}`, error);
      post({ type: 'failed', effect });
    };
    const finish = (outcome: Outcome<Event>): void => {
      if (outcome !== undefined) post(outcome);
    };
    try {
      const outcome = handlerOf(handlers, effect)(effect);
      if (outcome instanceof Promise) outcome.then(finish, fail);
      else finish(outcome);
    } catch (error) {
      fail(error);
    }
  };

  sleep();
  return {
    get state() {
      return state;
    },
    post,
    close() {
      isClosed = true;
      sleeper.remove();
    },
  };
}

/** The handler for this type of effect. TypeScript cannot see that it takes effects of this type. */
function handlerOf<Event extends Typed, Effect extends Typed>(
  handlers: Handlers<Event, Effect>,
  { type }: Effect,
): (effect: Effect) => Outcome<Event> | Promise<Outcome<Event>> {
  return handlers[type as Effect['type']] as (effect: Effect) => Outcome<Event> | Promise<Outcome<Event>>;
}
