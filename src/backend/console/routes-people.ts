/** Signing in, people and the audit. */
import type { PasswordHasher } from '../../adapters/console/password-hash.ts';
import { Busy } from '../../adapters/console/password-hash.ts';
import type { Clock } from '../../ports/clock.ts';
import type {
  ConsoleStore,
  PersonOutcome,
  SignedIn,
  StoredAttempts,
  StoredAudit,
  StoredPerson,
} from '../../ports/console-store.ts';
import { isObject, parseJson } from '../../protocol/common/json.ts';
import {
  type AuditLine,
  auditQuerySchema,
  type Me,
  newPersonSchema,
  type Person,
  passwordChangeSchema,
  personChangeSchema,
  signInSchema,
} from '../../protocol/console-owner.ts';
import { clean } from '../fleet/clean.ts';
import type { Audit } from './audit.ts';
import { type Call, readBody, readQuery } from './call.ts';
import { decideAttempt, OF_NAME, OF_UNKNOWN_NAMES, waitFor } from './login-limits.ts';
import { notFound, Refusal } from './refusal.ts';
import type { Handlers, PublicHandlers } from './router.ts';
import type { SignIn } from './sign-in.ts';

const MOST_SIGN_IN_BYTES = 4096;
const MOST_LINES = 100;
const DAY_MS = 86_400_000;
const iso = (ms: number): string => new Date(ms).toISOString();

export interface PeopleParts {
  readonly store: ConsoleStore;
  readonly signIn: SignIn;
  readonly hasher: PasswordHasher;
  readonly audit: Audit;
  readonly clock: Clock;
  /** Called when sessions may have ended, to end their streams. */
  readonly sessionsEnded: () => void;
}

const meOf = ({ name, role, endsAt }: SignedIn): Me => ({ name, role, expiresAt: iso(endsAt) });

/** Logged in place of an unknown name, because people type their password into the wrong field. */
const UNKNOWN_NAME = '(unknown name)';

export function publicRoutes({ signIn, audit, clock }: PeopleParts): PublicHandlers {
  let unknown: StoredAttempts | null = null;
  /** Whether the audit may get one more line about an unknown name; each call counts. */
  const isNoted = (): boolean => {
    const { attempts } = decideAttempt(unknown, OF_UNKNOWN_NAMES, clock.now());
    unknown = attempts ?? unknown;
    return attempts !== null;
  };
  return {
    'POST /api/sign-in': async (call) => {
      const { name, password } = await readBody(call, signInSchema, MOST_SIGN_IN_BYTES);
      const { address } = call.request;
      // Runs before the audit: guesses must not fill it.
      const attempt = await signIn.attempt(name, address);
      const enter = async () => {
        const person = await signIn.prove(attempt, password);
        return { ...(await signIn.enter(person, call.request)), result: 'signed in' };
      };
      const action = {
        who: attempt.person?.name ?? UNKNOWN_NAME,
        from: address,
        what: 'sign-in',
        on: null,
      };
      const isSilent = attempt.person === null && !isNoted();
      const { session, cookie } = isSilent ? await enter() : await audit.act(action, enter);
      return { json: meOf(session.who), cookie };
    },
  };
}

type PeopleRoute =
  | 'POST /api/sign-out'
  | 'GET /api/me'
  | 'POST /api/me/password'
  | 'GET /api/people'
  | 'POST /api/people'
  | 'POST /api/people/:name'
  | 'POST /api/people/:name/unlock'
  | 'POST /api/people/:name/remove'
  | 'GET /api/audit';

export function peopleRoutes(parts: PeopleParts): Pick<Handlers, PeopleRoute> {
  const { store, signIn, hasher, audit, clock, sessionsEnded } = parts;
  const shown = (person: StoredPerson): Person => personOf(person, clock.wall() ?? 0);
  const by = (call: Call, what: string, on: string | null, args = {}) => ({
    who: call.session.who.name,
    from: call.request.address,
    what,
    on,
    args,
  });
  const hash = async (password: string): Promise<string> => {
    try {
      return await hasher.hash(password);
    } catch (error) {
      if (error instanceof Busy) throw new Refusal(429, 'too_often', error.message, { retryAfterS: 2 });
      throw error;
    }
  };
  const personNamed = async (name: string): Promise<Person> => {
    const person = await store.person(name);
    if (person === null) throw notFound(`person "${clean(name, 64)}"`);
    return shown(person);
  };

  return {
    'POST /api/sign-out': async (call) => {
      const { cookie } = await audit.act(by(call, 'sign-out', null), async () => ({
        ...(await signIn.leave(call.session, call.request)),
        result: 'signed out',
      }));
      sessionsEnded();
      return { json: {}, cookie };
    },
    'GET /api/me': async ({ session }) => ({ json: meOf(session.who) }),
    'POST /api/me/password': async (call) => {
      const { old, new: next } = await readBody(call, passwordChangeSchema, MOST_SIGN_IN_BYTES);
      const { name } = call.session.who;
      await audit.act(by(call, 'people.password', name), async () => {
        await signIn.prove(await signIn.attempt(name, call.request.address), old);
        await store.changePerson(name, { passwordHash: await hash(next) }, call.session.key);
        return { result: 'changed; other sessions have ended' };
      });
      sessionsEnded();
      return { json: meOf(call.session.who) };
    },
    'GET /api/people': async () => ({ json: { people: (await store.people()).map(shown) } }),
    'POST /api/people': async (call) => {
      const { name, role, password } = await readBody(call, newPersonSchema, MOST_SIGN_IN_BYTES);
      await audit.act(by(call, 'people.add', name, { role }), async () => {
        const isNew = await store.addPerson({ name, role, passwordHash: await hash(password) });
        if (!isNew)
          throw new Refusal(409, 'exists', `there is a person "${name}" already: choose another name`);
        return { result: 'added' };
      });
      return { json: await personNamed(name) };
    },
    'POST /api/people/:name': async (call) => {
      const { role, password } = await readBody(call, personChangeSchema, MOST_SIGN_IN_BYTES);
      const { name } = await personNamed(call.params['name'] ?? '');
      const what = role === undefined ? 'people.password' : 'people.role';
      const args = role === undefined ? {} : { role, ...(password !== undefined && { password: 'new' }) };
      await audit.act(by(call, what, name, args), async () => {
        const passwordHash = password === undefined ? undefined : await hash(password);
        settle(await store.changePerson(name, { role, passwordHash }), name);
        return { result: 'changed; the sessions of this person have ended' };
      });
      sessionsEnded();
      return { json: await personNamed(name) };
    },
    'POST /api/people/:name/unlock': async (call) => {
      const { name } = await personNamed(call.params['name'] ?? '');
      await audit.act(by(call, 'people.unlock', name), async () => {
        await store.clearAttempts(name);
        return { result: 'unlocked' };
      });
      return { json: await personNamed(name) };
    },
    'POST /api/people/:name/remove': async (call) => {
      const { name } = await personNamed(call.params['name'] ?? '');
      await audit.act(by(call, 'people.remove', name), async () => {
        settle(await store.removePerson(name), name);
        return { result: 'removed' };
      });
      sessionsEnded();
      return { json: {} };
    },
    'GET /api/audit': async (call) => {
      const { who, what, device, from, to, before } = readQuery(call, auditQuerySchema);
      const filter = {
        who,
        what,
        on: device,
        before,
        from: from === undefined ? undefined : Date.parse(from),
        to: to === undefined ? undefined : Date.parse(to) + DAY_MS,
      };
      const lines = await store.audit(filter, MOST_LINES + 1);
      const shown = lines.slice(0, MOST_LINES).map(lineOf);
      return {
        json: { lines: shown, before: lines.length > MOST_LINES ? (shown.at(-1)?.id ?? null) : null },
      };
    },
  };
}

function settle(outcome: PersonOutcome, name: string): void {
  if (outcome === 'unknown') throw notFound(`person "${clean(name, 64)}"`);
  if (outcome === 'last')
    throw new Refusal(
      409,
      'last_administrator',
      `"${name}" is the last administrator: make another person administrator first`,
    );
}

function personOf({ name, role, since, seenAt, attempts }: StoredPerson, now: number): Person {
  const waitMs = waitFor(attempts, OF_NAME, now);
  return {
    name,
    role,
    since: iso(since),
    lastSeenAt: seenAt === null ? null : iso(seenAt),
    lockedUntil: waitMs > 0 ? iso(now + waitMs) : null,
  };
}

function lineOf({ id, at, who, from, what, on, args, result }: StoredAudit): AuditLine {
  const json = parseJson(args);
  return {
    id,
    at: iso(at),
    who,
    from,
    what,
    on,
    args: isObject(json) ? json : {},
    result: result === null ? null : { ...result, at: iso(result.at) },
  };
}
