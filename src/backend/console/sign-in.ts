/** Who is signed in. The cookie holds 256 random bits; the store has only their hash. */
import { createHash, randomBytes } from 'node:crypto';
import type { ConsoleRequest } from '../../adapters/console/console-request.ts';
import { readCookie, setCookie } from '../../adapters/console/cookie.ts';
import { Busy, type PasswordHasher } from '../../adapters/console/password-hash.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ConsoleStore, SignedIn } from '../../ports/console-store.ts';
import { type LoginFailures, noteAttempt, noteSuccess, waitForLogin } from '../core/console/login-limits.ts';
import { Refusal } from './refusal.ts';

const HOUR_MS = 3_600_000;
/** A session ends when it is not used for this long, and at the latest after `LONGEST_MS`. */
export const IDLE_MS = 12 * HOUR_MS;
export const LONGEST_MS = 7 * 24 * HOUR_MS;

export interface Session {
  /** Hash of the cookie's value. */
  readonly key: string;
  readonly who: SignedIn;
}

export interface SignIn {
  /** @throws Refusal if it was tried too often */
  mayTry(name: string, address: string): void;
  /** @throws Refusal */
  enter(
    name: string,
    password: string,
    request: ConsoleRequest,
  ): Promise<{ session: Session; cookie: string }>;
  /** @throws Refusal if the password is wrong, or was tried too often */
  prove(name: string, password: string, address: string): Promise<{ passwordHash: string }>;
  find(request: ConsoleRequest): Promise<Session | null>;
  goesOn(key: string): Promise<boolean>;
  leave(session: Session, request: ConsoleRequest): Promise<{ cookie: string }>;
}

export function createSignIn(store: ConsoleStore, hasher: PasswordHasher, clock: Clock): SignIn {
  const failures: LoginFailures = new Map();

  const mayTry = (name: string, address: string): void => {
    const waitMs = waitForLogin(failures, name, address, clock.now());
    if (waitMs <= 0) return;
    const retryAfterS = Math.ceil(waitMs / 1000);
    const minutes = Math.ceil(waitMs / 60_000);
    const message = `too many attempts failed: try again in ${minutes} minutes`;
    throw new Refusal(429, 'too_often', message, { retryAfterS });
  };
  const prove = async (name: string, password: string, address: string) => {
    mayTry(name, address);
    noteAttempt(failures, name, address, clock.now());
    const person = await store.person(name);
    let isRight = false;
    try {
      isRight = await hasher.check(password, person?.passwordHash ?? null);
    } catch (error) {
      if (error instanceof Busy) throw new Refusal(429, 'too_often', error.message, { retryAfterS: 2 });
      throw error;
    }
    if (person === null || !isRight) throw wrong();
    noteSuccess(failures, name, address);
    return person;
  };

  return {
    mayTry,
    prove,
    async enter(name, password, request) {
      const person = await prove(name, password, request.address);
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

const keyOf = (value: string): string => createHash('sha256').update(value).digest('base64url');

/** The same for an unknown name and for a wrong password. */
const wrong = (): Refusal => new Refusal(401, 'wrong', 'name or password is wrong');
