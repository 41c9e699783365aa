/** Moves to a newly configured broker once that broker has accepted the device, and stays with the previous one until then. */
import { draw, type Seed } from '../../core/random.ts';
import { type Failed, type Machine, type Moment, type Step, stay, type Time } from '../../machine/machine.ts';

/** Longest time between tries of the configured broker (ms); the shortest is half of it, to spread the retries of a fleet. */
const TRY_EACH_MS = 60_000;

export interface BrokerChangeState {
  readonly isUp: boolean;
  /** Counts the configured brokers, by address and login: the result for an earlier one is stale. */
  readonly candidate: number;
  /** The next try; null: none, the configured broker is the present one. */
  readonly tryAt: number | null;
  /** The owner knows that the configured broker does not accept the device. */
  readonly isReturnReported: boolean;
  readonly seed: Seed;
}

export interface BrokerChangeFacts {
  /** Address of the configured broker. */
  readonly configured: string;
  /** Address of the broker that serves the device until the configured one accepts it; null: none. */
  readonly previous: string | null;
}

export type BrokerChangeEvent =
  | { readonly type: 'connected' }
  /** The connection ended, or an attempt to connect failed. */
  | { readonly type: 'disconnected' }
  /** The configuration was read again. `isOther`: it names another address or login. */
  | { readonly type: 'configured'; readonly isOther: boolean }
  /** The result of a try. `problem`: null: that broker is the present one now. */
  | { readonly type: 'tried'; readonly candidate: number; readonly problem: string | null };

export type BrokerChangeEffect =
  /** Tries the configured broker while the present connection stays up; `tried` follows, unless a try is running. */
  | { readonly type: 'try'; readonly candidate: number }
  /** The configured broker has accepted the device. */
  | { readonly type: 'settle' }
  | { readonly type: 'reconnect' }
  /** The status names the broker that does not accept the device; null: none. */
  | { readonly type: 'show_away'; readonly broker: string | null }
  | { readonly type: 'log_candidate'; readonly from: string; readonly to: string }
  | { readonly type: 'report_change'; readonly from: string; readonly to: string }
  | { readonly type: 'report_return'; readonly from: string; readonly to: string; readonly message: string };

type Stepped = Step<BrokerChangeState, BrokerChangeEffect>;
type Seen = BrokerChangeFacts & Moment;

/** @param seed of the times of tries, different on each device */
export function brokerChangeMachine(
  seed: Seed,
): Machine<BrokerChangeState, BrokerChangeEvent, BrokerChangeEffect, BrokerChangeFacts> {
  return {
    name: 'broker change',
    begin: { isUp: false, candidate: 0, tryAt: null, isReturnReported: false, seed },
    step,
    wakeAt: ({ tryAt }) => tryAt,
  };
}

function step(
  state: BrokerChangeState,
  event: BrokerChangeEvent | Time | Failed<BrokerChangeEffect>,
  seen: Seen,
): Stepped {
  switch (event.type) {
    case 'connected':
      return onConnected({ ...state, isUp: true }, seen);
    case 'disconnected':
      // The present broker is lost: the configured one may accept the device now.
      return tryIfOther({ ...state, isUp: false }, seen);
    case 'time':
      return tryIfOther({ ...state, tryAt: null }, seen);
    case 'configured':
      return event.isOther ? onOther(state, seen) : tryIfOther(state, seen);
    case 'tried':
      return event.candidate === state.candidate
        ? onTried(state, event.problem, seen)
        : onStale(state, event.problem, seen);
    case 'failed':
      return stay(state);
  }
}

function onConnected(state: BrokerChangeState, seen: Seen): Stepped {
  return seen.previous === null ? settle(state, seen) : stay(state);
}

function onOther(state: BrokerChangeState, seen: Seen): Stepped {
  const { previous, configured } = seen;
  const next = { ...state, candidate: state.candidate + 1, tryAt: null, isReturnReported: false };
  const hidden: BrokerChangeEffect = { type: 'show_away', broker: null };
  if (previous !== null) {
    const { state: trying, effects } = tryIfOther(next, seen);
    return {
      state: trying,
      effects: [hidden, { type: 'log_candidate', from: previous, to: configured }, ...effects],
    };
  }
  // The pending connection may be to a broker that the configuration no longer names.
  return { state: next, effects: next.isUp ? [hidden] : [hidden, { type: 'reconnect' }] };
}

function onTried(state: BrokerChangeState, problem: string | null, seen: Seen): Stepped {
  if (problem === null) return settle(state, seen);
  const { previous, configured } = seen;
  if (state.isReturnReported || previous === null) return stay(state);
  return {
    state: { ...state, isReturnReported: true },
    effects: [
      { type: 'report_return', from: configured, to: previous, message: problem },
      { type: 'show_away', broker: configured },
    ],
  };
}

/** A try has ended whose broker the configuration no longer names. */
function onStale(state: BrokerChangeState, problem: string | null, seen: Seen): Stepped {
  // The connection leads to a broker that the configuration no longer names.
  if (problem === null) return { state, effects: [{ type: 'reconnect' }] };
  return tryIfOther(state, seen);
}

/** A try of the present broker beside its own connection would end that connection: both have one name. */
function tryIfOther(state: BrokerChangeState, { previous, now }: Seen): Stepped {
  if (previous === null) return stay(state);
  const { value, seed } = draw(state.seed);
  return {
    state: { ...state, seed, tryAt: now + TRY_EACH_MS * (0.5 + value / 2) },
    effects: [{ type: 'try', candidate: state.candidate }],
  };
}

function settle(state: BrokerChangeState, { previous, configured }: Seen): Stepped {
  const settled: readonly BrokerChangeEffect[] = [{ type: 'settle' }, { type: 'show_away', broker: null }];
  return {
    state: { ...state, tryAt: null },
    effects:
      previous === null ? settled : [...settled, { type: 'report_change', from: previous, to: configured }],
  };
}
