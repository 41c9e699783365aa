/** Throttles password guessing, by the name that is tried and by the address it comes from. */
import type { AttemptDecision, StoredAttempts } from '../../ports/console-store.ts';
import { networkOf } from '../../protocol/ip-address.ts';

export interface Limit {
  readonly most: number;
  readonly windowMs: number;
}
const WINDOW_MS = 15 * 60_000;
export const OF_NAME: Limit = { most: 10, windowMs: WINDOW_MS };
export const OF_ADDRESS: Limit = { most: 30, windowMs: WINDOW_MS };
/** Limit on audit lines about unknown names: someone with many addresses could fill the disk. */
export const OF_UNKNOWN_NAMES: Limit = { most: 100, windowMs: 24 * 3_600_000 };

/** Milliseconds until the next attempt is allowed; 0: now. */
export function waitFor(known: StoredAttempts | null, { most, windowMs }: Limit, now: number): number {
  return known === null || known.count < most ? 0 : Math.max(0, known.since + windowMs - now);
}

/** Counts an attempt before checking it: many parallel attempts must not all pass. */
export function decideAttempt(known: StoredAttempts | null, limit: Limit, now: number): AttemptDecision {
  const waitMs = waitFor(known, limit, now);
  if (waitMs > 0) return { attempts: null, waitMs };
  const isNew = known === null || now - known.since >= limit.windowMs;
  const attempts = isNew ? { since: now, count: 1 } : { since: known.since, count: known.count + 1 };
  return { attempts, waitMs: 0 };
}

/** Maximum number of networks that are remembered. */
const MOST_NETWORKS = 20_000;

/** Attempts by network. */
export interface AddressAttempts {
  /** Milliseconds to wait; 0: the attempt is allowed and counts. */
  count(address: string, now: number): number;
  /** Uncounts an attempt that was not a guess: a person signed in, or the name was locked. */
  takeBack(address: string): void;
}

export function createAddressAttempts(): AddressAttempts {
  const networks = new Map<string, StoredAttempts>();
  return {
    count(address, now) {
      const network = networkOf(address);
      const { attempts, waitMs } = decideAttempt(networks.get(network) ?? null, OF_ADDRESS, now);
      if (attempts === null) return waitMs;
      if (networks.size >= MOST_NETWORKS) forget(networks, now);
      networks.set(network, attempts);
      return 0;
    },
    takeBack(address) {
      const network = networkOf(address);
      const known = networks.get(network);
      if (known !== undefined) networks.set(network, { since: known.since, count: known.count - 1 });
    },
  };
}

function forget(networks: Map<string, StoredAttempts>, now: number): void {
  for (const [network, { since }] of networks)
    if (now - since >= OF_ADDRESS.windowMs) networks.delete(network);
  if (networks.size >= MOST_NETWORKS) networks.clear();
}
