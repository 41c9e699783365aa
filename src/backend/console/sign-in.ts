/** Who is signed in. The cookie holds 256 random bits; the store has only their hash. */
import { createHash, randomBytes } from 'node:crypto';
import type { ConsoleRequest } from '../../adapters/console/console-request.ts';
import { readCookie, setCookie } from '../../adapters/console/cookie.ts';
import { Busy, type PasswordHasher } from '../../adapters/console/password-hash.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ConsoleStore, SignedIn, StoredPerson } from '../../ports/console-store.ts';
import { createAddressAttempts, decideAttempt, OF_NAME } from './login-limits.ts';
import { Refusal } from './refusal.ts';

const HOUR_MS = 3_600_000;
/** A session ends when it has been idle for this long (ms). */
export const IDLE_MS = 12 * HOUR_MS;
/** A session ends after this time (ms) even if it is in use. */
export const LONGEST_MS = 7 * 24 * HOUR_MS;

export interface Session {
  /** Hash of the cookie's value. */
  readonly key: string;
  readonly who: SignedIn;
}

/** An allowed attempt. It counts against the limit until the password turns out to be right. */
export interface Attempt {
  /** Null: there is no such person; the answer must not reveal this. */
  readonly person: StoredPerson | null;
  readonly address: string;
}

export interface SignIn {
  /** @throws Refusal if the name or the address was tried too often */
  attempt(name: string, address: string): Promise<Attempt>;
  /** @throws Refusal if the password is wrong */
  prove(attempt: Attempt, password: string): Promise<StoredPerson>;
  /** @throws Refusal if the password was changed meanwhile */
  enter(person: StoredPerson, request: ConsoleRequest): Promise<{ session: Session; cookie: string }>;
  find(request: ConsoleRequest): Promise<Session | null>;
  goesOn(key: string): Promise<boolean>;
  leave(session: Session, request: ConsoleRequest): Promise<{ cookie: string }>;
}

export function createSignIn(store: ConsoleStore, hasher: PasswordHasher, clock: Clock): SignIn {
  const addresses = createAddressAttempts();
  return {
    async attempt(name, address) {
      refuseEarly(addresses.count(address, clock.now()), OF_ADDRESS_WORDS);
      const { person, waitMs } = await store.attempt(name, (known, now) =>
        decideAttempt(known, OF_NAME, now),
      );
      // A person whose name is locked must not use up the attempts of the whole office.
      if (waitMs > 0) addresses.takeBack(address);
      refuseEarly(waitMs, OF_NAME_WORDS);
      return { person, address };
    },
    async prove({ person, address }, password) {
      let isRight = false;
      try {
        isRight = await hasher.check(password, person?.passwordHash ?? null);
      } catch (error) {
        if (error instanceof Busy) throw new Refusal(429, 'too_often', error.message, { retryAfterS: 2 });
        throw error;
      }
      if (person === null || !isRight) throw wrong();
      await store.clearAttempts(person.name);
      addresses.takeBack(address);
      return person;
    },
    async enter(person, request) {
      const value = randomBytes(32).toString('base64url');
      const key = keyOf(value);
      const who = await store.openSession(key, person, LONGEST_MS);
      if (who === null) throw wrong();
      return { session: { key, who }, cookie: setCookie(value, request, LONGEST_MS / 1000) };
    },
    async find(request) {
      const value = readCookie(request.headers.cookie, request);
      if (value === null || !/^[\w-]{43}$/.test(value)) return null;
      const key = keyOf(value);
      const who = await store.useSession(key, IDLE_MS);
      return who === null ? null : { key, who };
    },
    async goesOn(key) {
      return (await store.useSession(key, IDLE_MS, false)) !== null;
    },
    async leave({ key }, request) {
      await store.endSession(key);
      return { cookie: setCookie('', request, 0) };
    },
  };
}

type Words = (minutes: number) => string;
const inMinutes = (minutes: number): string => (minutes === 1 ? '1 minute' : `${minutes} minutes`);
const OF_ADDRESS_WORDS: Words = (minutes) =>
  `too many attempts failed from this address: try again in ${inMinutes(minutes)}`;
const OF_NAME_WORDS: Words = (minutes) =>
  `too many attempts failed: try again in ${inMinutes(minutes)}, or ask an administrator to unlock the name`;

/** @throws Refusal */
function refuseEarly(waitMs: number, words: Words): void {
  if (waitMs <= 0) return;
  const more = { retryAfterS: Math.ceil(waitMs / 1000) };
  throw new Refusal(429, 'too_often', words(Math.ceil(waitMs / 60_000)), more);
}

const keyOf = (value: string): string => createHash('sha256').update(value).digest('base64url');

/** The same refusal for an unknown name and for a wrong password. */
const wrong = (): Refusal => new Refusal(401, 'wrong', 'name or password is wrong');
