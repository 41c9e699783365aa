import type { Account } from './account.ts';
import type { ServiceFault } from './fault.ts';
import { createFaultPlan, type FaultPlan } from './fault-plan.ts';
import type { VoiceRegistry } from './voices.ts';

type Refusal = ServiceFault & { kind: 'refuse' };
type HttpFault = ServiceFault & { kind: 'http' };
type UpgradeDelay = ServiceFault & { kind: 'slow_upgrade' };

/** Kinds of HTTP request that can be made to fail. */
export type FaultRoute = HttpFault['route'];

/** Faults that wait, and those that have been ordered for the next requests and connections. */
export interface FaultRegistry {
  readonly plan: FaultPlan;
  /** Added to every timestamp that is shown. */
  readonly skewMs: number;
  perform(fault: ServiceFault, now: number): void;
  /** Each `take` uses up one time of what was ordered. */
  takeRefusal(): Refusal | null;
  takeHttpFault(route: FaultRoute): HttpFault | null;
  takeUpgradeDelayMs(): number;
}

/** Takes one use of the first fault in a list that fits. */
function take<T extends { times: number }>(list: T[], fits: (fault: T) => boolean = () => true): T | null {
  const at = list.findIndex(fits);
  const found = list[at];
  if (found === undefined) return null;
  if (found.times <= 1) list.splice(at, 1);
  else list[at] = { ...found, times: found.times - 1 };
  return found;
}

/** Orders of one kind that may wait for requests. */
const MOST_ORDERED = 200;

function order<T>(list: T[], fault: T): void {
  list.push(fault);
  if (list.length > MOST_ORDERED) list.shift();
}

export function createFaultRegistry(world: { account: Account; voices: VoiceRegistry }): FaultRegistry {
  const plan = createFaultPlan();
  const refusals: Refusal[] = [];
  const httpFaults: HttpFault[] = [];
  const upgradeDelays: UpgradeDelay[] = [];
  let skewMs = 0;

  const clear = (): void => {
    plan.clear();
    world.account.clear();
    refusals.length = 0;
    httpFaults.length = 0;
    upgradeDelays.length = 0;
    skewMs = 0;
  };

  return {
    plan,
    get skewMs() {
      return skewMs;
    },
    perform(fault, now) {
      switch (fault.kind) {
        case 'balance_out':
          return world.account.exhaust(now, fault.for_ms);
        case 'block_account':
          return world.account.block(now, fault.for_ms);
        case 'refuse':
          return order(refusals, fault);
        case 'slow_upgrade':
          return order(upgradeDelays, fault);
        case 'http':
          return order(httpFaults, fault);
        case 'clock_skew':
          skewMs = fault.ms;
          return;
        case 'voice_failed':
          return world.voices.failNext(fault.times);
        case 'clear':
          return clear();
        default:
          return fault satisfies never;
      }
    },
    takeRefusal: () => take(refusals),
    takeHttpFault: (route) => take(httpFaults, (fault) => fault.route === 'any' || fault.route === route),
    takeUpgradeDelayMs: () => take(upgradeDelays)?.ms ?? 0,
  };
}
