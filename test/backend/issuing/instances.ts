/** Two backends with one store, a service and devices, in virtual time. Everything random comes from a seed. */
import type { Ask, IssuerEvent } from '../../../src/backend/issuing/issue-event.ts';
import { LEASE_MS, settledMs } from '../../../src/backend/issuing/mint/claim.ts';
import { ORPHANS } from '../../../src/backend/issuing/mint/orphans.ts';
import { findUnknown, removeSessions } from '../../../src/backend/issuing/mint/settle.ts';
import type { TokenReason } from '../../../src/protocol/mqtt/token.ts';
import type { SessionWithToken } from '../../../src/protocol/service/session.ts';
import { makeConfig, makeSession } from './issuer-parts.ts';
import {
  createIssuerWithBooks,
  createMemoryBooks,
  type IssuerWithBooks,
  type OuterEffect,
} from './memory-books.ts';

const REPEATS_MS = [5000, 10_000, 20_000];
/** Long, so that sessions do not go by themselves. */
const WINDOW_MS = 600_000;

interface AtService {
  readonly id: string;
  readonly device: string;
  readonly madeAt: number;
  usedAt: number | null;
  revokedAt: number | null;
  /** A backend has answered with it. */
  isTold: boolean;
}
interface Instance {
  readonly name: string;
  readonly issuer: IssuerWithBooks;
  isAlive: boolean;
  /** Its event loop stands still until this time. */
  stalledUntil: number;
}
interface Waiting {
  readonly id: string;
  readonly askedAt: number;
  readonly reason: TokenReason;
  attempt: number;
  isOver: boolean;
}

export function openInstances(
  seed: number,
  { devices = 12, doubled = 0.1, impatient = 0, slow = 0, lost = 0, pause = [2000, 40_000] } = {},
) {
  const config = makeConfig({
    session: { expiresInSeconds: WINDOW_MS / 1000 },
    limits: {
      sessionsPerHour: 3600,
      burst: 1000,
      perMinute: 6000,
      createsPerSecond: 1000,
      pendingSessions: 1000,
    },
  });
  const draw = randomBy(seed);
  const between = (least: number, most: number) => least + draw() * (most - least);
  const books = createMemoryBooks();
  const sessions = new Map<string, AtService>();
  const due: { at: number; act: () => void }[] = [];
  const found = { refused: 0, answers: [] as { attempts: number; ms: number }[], denied: [] as string[] };
  const waiting = new Map<string, Waiting>();
  let now = 1000;
  let made = 0;
  let names = 0;
  let requests = 0;
  const instances: Instance[] = [];
  const later = (ms: number, act: () => void): void => {
    const at = now + ms;
    const place = due.findIndex((other) => other.at > at);
    due.splice(place === -1 ? due.length : place, 0, { at, act });
  };

  const start = (): Instance => {
    names += 1;
    const name = `backend-${names}`;
    const instance = {
      name,
      issuer: createIssuerWithBooks(config, books, name),
      isAlive: true,
      stalledUntil: 0,
    };
    const every = (ms: number, act: () => void): void =>
      later(ms, () =>
        whenAwake(instance, () => {
          act();
          every(ms, act);
        }),
      );
    every(LEASE_MS / 3, () => void (instance.issuer.jobs > 0 && books.renew(name, LEASE_MS, now)));
    later(0, () =>
      whenAwake(instance, () => {
        reconcile(instance);
        every(ORPHANS.lookEveryMs, () => reconcile(instance));
      }),
    );
    instances.push(instance);
    return instance;
  };
  const whenAwake = (instance: Instance, act: () => void): void => {
    if (!instance.isAlive) return;
    if (now < instance.stalledUntil) later(instance.stalledUntil - now, () => whenAwake(instance, act));
    else act();
  };
  const dispatch = (instance: Instance, event: IssuerEvent): void =>
    whenAwake(instance, () => {
      for (const effect of instance.issuer.handle(event, now)) run(instance, effect);
    });
  const isUnused = (session: AtService | undefined): session is AtService =>
    session !== undefined &&
    session.usedAt === null &&
    session.revokedAt === null &&
    now < session.madeAt + WINDOW_MS;
  const unusedOf = (device: string) =>
    [...sessions.values()].filter((one) => one.device === device && isUnused(one));
  const remove = (id: string): void => {
    const session = sessions.get(id);
    if (session !== undefined) session.revokedAt ??= now;
  };
  const tell = (id: string): void => {
    const session = sessions.get(id);
    if (session !== undefined) session.isTold = true;
  };
  const nameOf = (device: string) => ({ tenant: 'museum', device });

  /** The service acts even if the backend that asked has died meanwhile; only its answer is lost. */
  const exchange = <T>(
    instance: Instance,
    longestMs: number,
    act: () => T,
    then: (result: T) => void,
  ): void => {
    later(between(20, longestMs), () => {
      const result = act();
      later(between(10, 200), () => whenAwake(instance, () => then(result)));
    });
  };
  const removeAll = (
    instance: Instance,
    device: string,
    ids: readonly string[],
    then = (): void => {},
  ): void =>
    exchange(
      instance,
      200,
      () => ids.forEach(remove),
      () => {
        books.change(`museum/${device}`, now, removeSessions(ids));
        then();
      },
    );

  const run = (instance: Instance, effect: OuterEffect): void => {
    const to = (event: IssuerEvent) => dispatch(instance, event);
    switch (effect.type) {
      case 'create': {
        const device = effect.input.client_reference_id?.split('/')[1] ?? '';
        const make = (): SessionWithToken => {
          made += 1;
          const id = `s${made}`;
          sessions.set(id, { id, device, madeAt: now, usedAt: null, revokedAt: null, isTold: false });
          return makeSession(id);
        };
        return exchange(instance, draw() < slow ? 9000 : 2000, make, (session) =>
          to({ type: 'created', job: effect.job, session, draw: draw() }),
        );
      }
      case 'fetch': {
        const read = () => sessions.get(effect.session);
        return exchange(instance, 200, read, (one) => {
          const isUsed = one !== undefined && one.usedAt !== null && one.revokedAt === null;
          const session = isUsed ? 'used' : isUnused(one) ? makeSession(one.id) : null;
          to({ type: 'fetched', job: effect.job, session, draw: draw() });
        });
      }
      case 'end': {
        const { device } = effect.who;
        const list = () =>
          unusedOf(device).filter(({ id }) => effect.sessionId === null || id === effect.sessionId);
        return exchange(instance, 200, list, (listed) => {
          const ids = instance.issuer.holds(effect, now) ? listed.map(({ id }) => id) : [];
          removeAll(instance, device, ids, () => to({ type: 'ended', job: effect.job, draw: draw() }));
        });
      }
      case 'revoke':
        return removeAll(instance, effect.who.device, effect.ids);
      case 'discard':
        return removeAll(instance, effect.who.device, [effect.id]);
      case 'hold':
        return later(effect.afterMs, () => to({ type: 'held', job: effect.job, draw: draw() }));
      case 'wake':
        return later(effect.afterMs, () => to({ type: 'woken', draw: draw() }));
      case 'answer':
        if (effect.answer.ok) tell(effect.answer.session.id);
        return later(between(5, 150), () => hear(effect.who.device, effect));
    }
  };
  const reconcile = (instance: Instance): void => {
    for (const lane of books.takeAbandoned(ORPHANS.graceMs, ORPHANS.againMs, now)) {
      const device = lane.device.split('/')[1] ?? '';
      exchange(
        instance,
        200,
        () => unusedOf(device).map(({ id }) => id),
        (listed) => {
          const unknown = books.change(lane.device, now, findUnknown(lane, listed, settledMs(10)));
          removeAll(instance, device, unknown);
        },
      );
    }
    for (const { device, id } of books.takeLeaving()) removeAll(instance, device.split('/')[1] ?? '', [id]);
  };

  const send = (device: string, request: Waiting): void => {
    // Switched off: it asks no more.
    const isLost = draw() < lost;
    const alive = instances.filter(({ isAlive }) => isAlive);
    const first = Math.floor(draw() * alive.length);
    const copies = draw() < doubled ? 2 : 1;
    const ask: Ask = {
      who: nameOf(device),
      request: {
        id: request.id,
        lane: 'main',
        intent: 's2s',
        connection_type: 'ws',
        reason: request.reason,
        attempt: request.attempt,
      },
      reply: { topic: `p/museum/${device}/token/res` },
    };
    for (let copy = 0; copy < copies; copy += 1) {
      const instance = alive[(first + copy) % alive.length];
      if (instance !== undefined)
        later(between(1, 100), () => dispatch(instance, { type: 'asked', ask, draw: draw() }));
    }
    later(REPEATS_MS[request.attempt - 1] ?? 40_000, () => {
      if (request.isOver || isLost) return;
      request.attempt += 1;
      send(device, request);
    });
  };
  const ask = (device: string, reason: TokenReason): void => {
    requests += 1;
    const old = waiting.get(device);
    if (old !== undefined) old.isOver = true;
    const request = { id: `r${requests}`, askedAt: now, reason, attempt: 1, isOver: false };
    waiting.set(device, request);
    send(device, request);
    // Somebody stops and starts the lane; its requests arrive in their order.
    if (draw() < impatient)
      later(between(150, 4000), () => {
        if (waiting.get(device) === request && !request.isOver) ask(device, 'start');
      });
  };
  const hear = (device: string, { id, answer }: Extract<OuterEffect, { type: 'answer' }>): void => {
    const request = waiting.get(device);
    if (request === undefined || request.id !== id || request.isOver) return;
    request.isOver = true;
    found.answers.push({ attempts: request.attempt, ms: now - request.askedAt });
    if (!answer.ok) {
      found.denied.push(answer.error.code);
      later((answer.error.retry_after_s ?? 1) * 1000, () => ask(device, 'network'));
      return;
    }
    const { id: session } = answer.session;
    later(between(100, 1500), () => {
      const one = sessions.get(session);
      if (one === undefined || one.revokedAt !== null || one.usedAt !== null) {
        found.refused += 1;
        ask(device, 'refused');
        return;
      }
      one.usedAt = now;
      later(between(pause[0] ?? 0, pause[1] ?? 0), () => ask(device, draw() < 0.5 ? 'rollover' : 'network'));
    });
  };

  start();
  start();
  for (let index = 0; index < devices; index += 1) later(between(0, 3000), () => ask(`d${index}`, 'start'));
  return {
    found,
    start,
    /** Kills one backend like `kill -9`. */
    kill(): void {
      const alive = instances.filter(({ isAlive }) => isAlive);
      const victim = alive[Math.floor(draw() * alive.length)];
      if (victim !== undefined) victim.isAlive = false;
    },
    /** Stops the event loop of one backend. */
    stall(ms: number): void {
      const victim = instances.findLast(({ isAlive }) => isAlive);
      if (victim !== undefined) victim.stalledUntil = now + ms;
    },
    pass(ms: number): void {
      const end = now + ms;
      for (let next = due[0]; next !== undefined && next.at <= end; next = due[0]) {
        due.shift();
        now = next.at;
        next.act();
      }
      now = end;
    },
    between,
    /** How long each session lay unused at the service (s). `untold`: only those that no backend has answered with. */
    idle: (untold = false) =>
      [...sessions.values()]
        .filter(({ usedAt, isTold }) => usedAt === null && !(untold && isTold))
        .map(
          ({ madeAt, revokedAt }) => (Math.min(revokedAt ?? now, madeAt + WINDOW_MS, now) - madeAt) / 1000,
        ),
    /** Sessions that were revoked without a stream. */
    wasted: () =>
      [...sessions.values()].filter(({ usedAt, revokedAt }) => usedAt === null && revokedAt !== null).length,
    used: () => [...sessions.values()].filter(({ usedAt }) => usedAt !== null).length,
  };
}

/** Park and Miller's generator. */
function randomBy(seed: number): () => number {
  let state = (seed * 48_271 + 1) % 2_147_483_647;
  return () => {
    state = (state * 16_807) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
