/** Signing in, people and the audit. */
import type { PasswordHasher } from '../../adapters/console/password-hash.ts';
import { Busy } from '../../adapters/console/password-hash.ts';
import type {
  ConsoleStore,
  PersonOutcome,
  SignedIn,
  StoredAudit,
  StoredPerson,
} from '../../ports/console-store.ts';
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
import { isObject, parseJson } from '../../protocol/json.ts';
import type { Audit } from './audit.ts';
import { type Call, readBody, readQuery } from './call.ts';
import { clean } from './clean.ts';
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
  /** Sessions may have ended: their streams end, too. */
  readonly sessionsEnded: () => void;
}

const meOf = ({ name, role, endsAt }: SignedIn): Me => ({ name, role, expiresAt: iso(endsAt) });

export function publicRoutes({ signIn, audit }: PeopleParts): PublicHandlers {
  return {
    'POST /api/sign-in': async (call) => {
      const { name, password } = await readBody(call, signInSchema, MOST_SIGN_IN_BYTES);
      // Before the audit: guesses must not fill it.
      signIn.mayTry(name, call.request.address);
      const action = { who: name, from: call.request.address, what: 'sign-in', on: null };
      const { session, cookie } = await audit.act(action, async () => ({
        ...(await signIn.enter(name, password, call.request)),
        result: 'signed in',
      }));
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
  | 'POST /api/people/:name/remove'
  | 'GET /api/audit';

export function peopleRoutes(parts: PeopleParts): Pick<Handlers, PeopleRoute> {
  const { store, signIn, hasher, audit, sessionsEnded } = parts;
  const by = (call: Call, what: string, on: string | null, args = {}) => ({
    ...{ who: call.session.who.name, from: call.request.address, what, on, args },
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
    return personOf(person);
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
        await signIn.prove(name, old, call.request.address);
        await store.changePerson(name, { passwordHash: await hash(next) }, call.session.key);
        return { result: 'changed; other sessions have ended' };
      });
      sessionsEnded();
      return { json: meOf(call.session.who) };
    },
    'GET /api/people': async () => ({ json: { people: (await store.people()).map(personOf) } }),
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
      const name = call.params['name'] ?? '';
      const { role, password } = await readBody(call, personChangeSchema, MOST_SIGN_IN_BYTES);
      await personNamed(name);
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
    'POST /api/people/:name/remove': async (call) => {
      const name = call.params['name'] ?? '';
      await personNamed(name);
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
        ...{ who, what, on: device, before },
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

function personOf({ name, role, since, seenAt }: StoredPerson): Person {
  return { name, role, since: iso(since), lastSeenAt: seenAt === null ? null : iso(seenAt) };
}

function lineOf({ id, at, who, from, what, on, args, result }: StoredAudit): AuditLine {
  const given = parseJson(args);
  return {
    ...{ id, at: iso(at), who, from, what, on, args: isObject(given) ? given : {} },
    result: result === null ? null : { ...result, at: iso(result.at) },
  };
}
