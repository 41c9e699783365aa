import type { Account } from './account.ts';
import type { ServiceFault } from './fault.ts';
import { createFaultPlan, type FaultPlan } from './fault-plan.ts';
import type { VoiceRegistry } from './voices.ts';

/** A fault for the next requests, and its remaining number of occurrences. */
export interface OrderedFault {
  readonly id: number;
  readonly kind: string;
  readonly times: number;
  /** The fault's route or reason. */
  readonly of: string | null;
}

type Refusal = ServiceFault & { kind: 'refuse' };
type HttpFault = ServiceFault & { kind: 'http' };
type UpgradeDelay = ServiceFault & { kind: 'slow_upgrade' };

/** Kinds of HTTP request that a fault can select. */
export type FaultRoute = HttpFault['route'];

/** Waiting faults, and faults for the next requests and connections. */
export interface FaultRegistry {
  readonly plan: FaultPlan;
  /** Clock skew that is added to every timestamp that the service shows. */
  readonly skewMs: number;
  /** @param id id of the order, with which a fault for later requests can be cancelled */
  perform(fault: ServiceFault, now: number, id?: number): void;
  /** Remaining faults for the next requests and connections. */
  ordered(): OrderedFault[];
  /** Cancels the fault with this id, waiting or ordered. */
  remove(id: number): boolean;
  /** Each `take...` uses up one occurrence of an ordered fault. */
  takeRefusal(): Refusal | null;
  takeHttpFault(route: FaultRoute): HttpFault | null;
  takeUpgradeDelayMs(): number;
}

/** A fault with the id of its order. */
type Kept<T> = T & { id: number };

/** Uses the first matching fault of a list once. */
function take<T extends { times: number }>(
  list: Kept<T>[],
  fits: (fault: T) => boolean = () => true,
): T | null {
  const at = list.findIndex(fits);
  const entry = list[at];
  if (entry === undefined) return null;
  if (entry.times <= 1) list.splice(at, 1);
  else list[at] = { ...entry, times: entry.times - 1 };
  return entry;
}

/** Maximum number of ordered faults of one kind; a new fault displaces the oldest. */
const MOST_ORDERED = 200;

function order<T>(list: Kept<T>[], fault: T, id: number): void {
  list.push({ ...fault, id });
  if (list.length > MOST_ORDERED) list.shift();
}

export function createFaultRegistry({
  account,
  voices,
}: {
  account: Account;
  voices: VoiceRegistry;
}): FaultRegistry {
  const plan = createFaultPlan();
  const refusals: Kept<Refusal>[] = [];
  const httpFaults: Kept<HttpFault>[] = [];
  const upgradeDelays: Kept<UpgradeDelay>[] = [];
  const lists: Kept<Refusal | HttpFault | UpgradeDelay>[][] = [refusals, httpFaults, upgradeDelays];
  let skewMs = 0;

  const clear = (): void => {
    plan.clear();
    account.clear();
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
    perform(fault, now, id = 0) {
      switch (fault.kind) {
        case 'balance_out':
          return account.exhaust(now, fault.for_ms);
        case 'block_account':
          return account.block(now, fault.for_ms);
        case 'refuse':
          return order(refusals, fault, id);
        case 'slow_upgrade':
          return order(upgradeDelays, fault, id);
        case 'http':
          return order(httpFaults, fault, id);
        case 'clock_skew':
          skewMs = fault.ms;
          return;
        case 'voice_failed':
          return voices.failNext(fault.times);
        case 'clear':
          return clear();
        default:
          return fault satisfies never;
      }
    },
    ordered: () =>
      lists.flat().map((fault) => ({
        id: fault.id,
        kind: fault.kind,
        times: fault.times,
        of: fault.kind === 'http' ? fault.route : fault.kind === 'refuse' ? fault.reason : null,
      })),
    remove(id) {
      if (plan.remove(id)) return true;
      for (const list of lists) {
        const at = list.findIndex((fault) => fault.id === id);
        if (at >= 0) return list.splice(at, 1).length > 0;
      }
      return false;
    },
    takeRefusal: () => take(refusals),
    takeHttpFault: (route) => take(httpFaults, (fault) => fault.route === 'any' || fault.route === route),
    takeUpgradeDelayMs: () => take(upgradeDelays)?.ms ?? 0,
  };
}
