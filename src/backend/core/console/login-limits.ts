/** Slows down whoever guesses passwords: by the name that is tried, and by the address that tries. */

const WINDOW_MS = 15 * 60_000;
const MOST_OF_NAME = 10;
const MOST_OF_ADDRESS = 30;
/** Most names and addresses that are remembered. */
const MOST_KEYS = 20_000;

interface Failures {
  readonly since: number;
  readonly count: number;
}
export type LoginFailures = Map<string, Failures>;

const keysOf = (name: string, address: string): readonly (readonly [string, number])[] => [
  [`name ${name}`, MOST_OF_NAME],
  [`address ${networkOf(address)}`, MOST_OF_ADDRESS],
];

/** A home has a whole /64 of IPv6. */
function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('::');
  const parts = head.split(':').filter(Boolean);
  const rest = (tail ?? '').split(':').filter(Boolean);
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - parts.length - rest.length);
  return [...parts, ...Array.from({ length: zeros }, () => '0'), ...rest].slice(0, 4).join(':');
}

/** Milliseconds until this name may be tried from this address; 0: now. */
export function waitForLogin(failures: LoginFailures, name: string, address: string, now: number): number {
  const waits = keysOf(name, address).map(([key, most]) => {
    const known = failures.get(key);
    return known === undefined || known.count < most ? 0 : known.since + WINDOW_MS - now;
  });
  return Math.max(0, ...waits);
}

/** Counts an attempt before it is made: many at once must not all pass. */
export function noteAttempt(failures: LoginFailures, name: string, address: string, now: number): void {
  if (failures.size >= MOST_KEYS) forget(failures, now);
  for (const [key] of keysOf(name, address)) {
    const known = failures.get(key);
    const isNew = known === undefined || now - known.since >= WINDOW_MS;
    failures.set(key, isNew ? { since: now, count: 1 } : { since: known.since, count: known.count + 1 });
  }
}

/** It succeeded: the name is tried by its owner. The address may still be that of a guesser. */
export function noteSuccess(failures: LoginFailures, name: string, address: string): void {
  const [[nameKey = ''] = [], [addressKey = ''] = []] = keysOf(name, address);
  failures.delete(nameKey);
  const known = failures.get(addressKey);
  if (known !== undefined) failures.set(addressKey, { ...known, count: known.count - 1 });
}

function forget(failures: LoginFailures, now: number): void {
  for (const [key, { since }] of failures) if (now - since >= WINDOW_MS) failures.delete(key);
  if (failures.size >= MOST_KEYS) failures.clear();
}
