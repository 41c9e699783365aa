/**
 * Decides on requests for tokens. Pure: events in, effects out, time passed in (monotonic milliseconds), nothing else.
 * The state is changed in place, because a fleet has thousands of devices.
 */

import type { BackendConfig } from '../../protocol/backend-config.ts';
import { probeKind, type TokenError } from '../../protocol/mqtt/token.ts';
import type { CreateSessionInput, SessionWithToken } from '../../protocol/service/session.ts';
import { answerKey, deviceOf, ignore, isTrial, jobKey } from './ask.ts';
import { busy, countUnknownDevices, tooMany } from './denials.ts';
import { checkAccount, chooseDurationMs, makeRoom, recordGrant, removeGone } from './device-account.ts';
import { type DeviceRecord, type DeviceRegistry, openDeviceRegistry } from './device-registry.ts';
import type { Answer, Ask, IssuerEffect, IssuerEvent } from './issue-event.ts';
import { isKnown, openJobQueue, type Rank } from './job-queue.ts';
import { countPending } from './pending.ts';
import { type Allowance, isListed, judge, type Policy } from './policy.ts';
import { denialOf, pauseMs, type Trouble } from './service-trouble.ts';

/** Longest wait of a job in the queue (ms); the device has given up by then. */
const LONGEST_QUEUE_MS = 20_000;
const MOST_JOBS = 2000;
/** Longest expected wait that is accepted (ms). A request with a longer one is denied at once. */
const LONGEST_EXPECTED_MS = 10_000;
/** Longest time for which the same request gets the same denial (ms). */
const DENIAL_FRESH_MS = 30_000;

interface Job {
  readonly number: number;
  readonly key: string;
  input: CreateSessionInput;
  readonly allowance: Allowance;
  readonly rank: Rank;
  readonly queuedAt: number;
  ask: Ask;
  createdFrom: number;
}

export interface Issuer {
  handle(event: IssuerEvent, now: number): IssuerEffect[];
  /** Waiting and running jobs. */
  readonly jobs: number;
}

export type IssuerOptions = Policy & Pick<BackendConfig, 'limits'>;

export function createIssuer(options: IssuerOptions): Issuer {
  const devices: DeviceRegistry = openDeviceRegistry(options.limits);
  const jobs = new Map<number, Job>();
  const jobsByLane = new Map<string, Job>();
  const queue = openJobQueue<Job>(options.limits.createsPerSecond);
  const pending = countPending(options.limits.pendingSessions);
  /** Unknown devices get at most half of the parallel requests to the service. */
  const mostUnknown = Math.ceil(options.limits.concurrency / 2);
  const isUnknownFlood = countUnknownDevices();
  let running = 0;
  let unknownRunning = 0;
  let wakeAt = Number.POSITIVE_INFINITY;
  let lastJob = 0;
  let pause: { until: number; trouble: Trouble } | null = null;

  const answer = (ask: Ask, given: Answer, repeated = false): IssuerEffect => {
    const { who, reply, request } = ask;
    return { type: 'answer', who, id: request.id, reply, answer: given, about: request, repeated };
  };
  const pausedBy = (now: number): Trouble | null => {
    if (pause === null || now >= pause.until) return null;
    return { ...pause.trouble, retryAfterS: (pause.until - now) / 1000 };
  };

  const rankOf = ({ who }: Ask, record: DeviceRecord): Rank =>
    isListed(options, who) ? 0 : (record.knownSince ?? Number.POSITIVE_INFINITY);

  const asked = (ask: Ask, draw: number, now: number): IssuerEffect[] => {
    const { who, request } = ask;
    const record = devices.of(who, now);
    if (probeKind(request) === 'backend') return confirmPresence(ask, record, now);
    const trial = isTrial(ask);
    if (devices.isFlood(record, trial, now)) return [ignore(ask, 'flood')];
    const given = record.answered.get(answerKey(ask));
    if (given !== undefined && now < given.freshUntil) return [answer(ask, given.answer, true)];

    const key = jobKey(ask);
    const job = jobsByLane.get(key);
    if (job?.ask.request.id === request.id) {
      job.ask = ask;
      return [ignore(ask, 'in_progress')];
    }
    const verdict = judge(options, who, request);
    if (!verdict.ok) return [answer(ask, verdict)];
    const waitMs = devices.spendRequest(record, trial, now);
    if (waitMs > 0) return [answer(ask, { ok: false, error: tooMany(options.limits, waitMs, draw) })];
    if (job !== undefined) {
      const same =
        job.input.intent === request.intent && job.input.connection_type === request.connection_type;
      return same ? supersede(job, ask) : [answer(ask, { ok: false, error: busy('the lane', draw) })];
    }
    const rank = rankOf(ask, record);
    const error = refusal(ask, record, verdict.allowance, rank, draw, now);
    if (error !== null) return answerUnlessFlood(ask, rank, answer(ask, { ok: false, error }), now);
    enqueue({ key, ask, input: verdict.input, allowance: verdict.allowance, rank }, record, now);
    return start(now, draw);
  };

  /** Why no session is made for a valid request; null if one is made. */
  const refusal = (
    ask: Ask,
    record: DeviceRecord,
    allowance: Allowance,
    rank: Rank,
    draw: number,
    now: number,
  ): TokenError | null => {
    if (!isTrial(ask)) {
      const { lane } = ask.request;
      // The lane's earlier sessions are not pending: they have been used, or are ended now.
      pending.remove(record.account.granted.filter((one) => one.lane === lane).map(({ id }) => id));
      const error = checkAccount(record.account, allowance, lane, now);
      if (error !== null) return error;
    }
    const unused = pending.check(deviceOf(ask), !isKnown(rank), now);
    if (unused !== null) return unused;
    const trouble = pausedBy(now);
    if (trouble !== null) return denialOf(trouble, draw);
    const isLong = queue.waitMs(rank) > LONGEST_EXPECTED_MS || jobs.size >= MOST_JOBS;
    return isLong ? busy(`${options.limits.createsPerSecond} sessions a second`, draw) : null;
  };

  /** Unknown devices get an answer only while few of them ask. */
  const answerUnlessFlood = (ask: Ask, rank: Rank, effect: IssuerEffect, now: number): IssuerEffect[] =>
    isUnknownFlood(rank, now) ? [ignore(ask, 'flood')] : [effect];

  /** Confirms at once that the backend is there, by the owner's policy only: without the service and without limits. */
  const confirmPresence = (ask: Ask, record: DeviceRecord, now: number): IssuerEffect[] => {
    if (devices.isProbeFlood(record, now)) return [ignore(ask, 'flood')];
    const verdict = judge(options, ask.who, ask.request);
    const effect: IssuerEffect = verdict.ok
      ? { type: 'confirm', ask, probe: { session: 'none' } }
      : answer(ask, verdict);
    return answerUnlessFlood(ask, rankOf(ask, record), effect, now);
  };

  /** The device no longer waits for its older request. The session that is being made answers the newer one. */
  const supersede = (job: Job, ask: Ask): IssuerEffect[] => {
    const ignored = ignore(job.ask, 'superseded');
    job.ask = ask;
    return [ignored];
  };

  const enqueue = (
    wanted: Pick<Job, 'key' | 'ask' | 'input' | 'allowance' | 'rank'>,
    record: DeviceRecord,
    now: number,
  ): void => {
    lastJob += 1;
    const job: Job = { number: lastJob, ...wanted, queuedAt: now, createdFrom: now };
    jobs.set(job.number, job);
    jobsByLane.set(job.key, job);
    if (!isTrial(job.ask)) record.account.working.set(job.ask.request.lane, null);
    queue.add(job);
  };

  const forget = (job: Job, now: number): void => {
    jobs.delete(job.number);
    jobsByLane.delete(job.key);
    if (!isTrial(job.ask)) devices.of(job.ask.who, now).account.working.delete(job.ask.request.lane);
  };

  /** The end of a job that was begun. */
  const end = (job: Job, now: number): void => {
    forget(job, now);
    running -= 1;
    if (!isKnown(job.rank)) unknownRunning -= 1;
  };

  /** Begins jobs within the limits on parallel requests and on sessions a second. */
  const start = (now: number, draw: number): IssuerEffect[] => {
    const effects: IssuerEffect[] = [];
    const trouble = pausedBy(now);
    for (const job of queue.drop((one) => trouble !== null || isStale(one, now))) {
      forget(job, now);
      if (isStale(job, now)) effects.push(ignore(job.ask, 'stale'));
      else if (trouble !== null) effects.push(answer(job.ask, { ok: false, error: denialOf(trouble, draw) }));
    }
    while (running < options.limits.concurrency) {
      const unknownDevices = unknownRunning < mostUnknown;
      if (!queue.has(unknownDevices)) break;
      const waitMs = queue.spendCreate(now);
      if (waitMs > 0) {
        effects.push(...wake(now, waitMs));
        break;
      }
      const job = queue.take(unknownDevices);
      if (job === undefined) break;
      running += 1;
      if (!isKnown(job.rank)) unknownRunning += 1;
      effects.push(...begin(job, now));
    }
    return effects;
  };

  const wake = (now: number, afterMs: number): IssuerEffect[] => {
    if (wakeAt <= now + afterMs && wakeAt > now) return [];
    wakeAt = now + afterMs;
    return [{ type: 'wake', afterMs }];
  };

  const begin = (job: Job, now: number): IssuerEffect[] => {
    const { who, request } = job.ask;
    if (isTrial(job.ask)) return [{ type: 'probe', job: job.number, input: job.input }];
    const last = devices.of(who, now).sessions.get(request.lane);
    const unused = last !== undefined && now < last.until ? last.id : null;
    // A repeated request means that an answer was lost, ours or the service's. Unknown sessions may exist: from older requests
    // of this lane, from another backend, or from before our start.
    if (unused !== null || request.attempt > 1) {
      const sessionId = request.attempt > 1 ? null : unused;
      return [{ type: 'end', job: job.number, reference: job.key, sessionId }];
    }
    return create(job, now);
  };

  const create = (job: Job, now: number): IssuerEffect[] => {
    const { who, request } = job.ask;
    const { account } = devices.of(who, now);
    const room = makeRoom(account, job.allowance, request, now);
    if (!room.ok) {
      end(job, now);
      return [answer(job.ask, { ok: false, error: room.error })];
    }
    job.createdFrom = now;
    const { max_session_duration_seconds: maxS = Number.POSITIVE_INFINITY } = job.input;
    const durationMs = chooseDurationMs(account, request.lane, maxS * 1000, now);
    account.working.set(request.lane, now + durationMs);
    if (Number.isFinite(durationMs)) {
      job.input = { ...job.input, max_session_duration_seconds: Math.floor(durationMs / 1000) };
    }
    const { revoke: ids } = room;
    return [
      ...(ids.length > 0 ? [{ type: 'revoke', who, ids } as const] : []),
      { type: 'create', job: job.number, input: job.input },
    ];
  };

  const created = (job: Job, session: SessionWithToken, now: number): IssuerEffect => {
    const { who, request } = job.ask;
    const record = devices.of(who, now);
    // The service counts the window from a time between our request and its answer: each use takes the safe end.
    const windowMs = (job.input.expires_in_seconds ?? 0) * 1000;
    const until = now + windowMs;
    devices.remember(record, request.lane, { id: session.id, until });
    const durationMs = (job.input.max_session_duration_seconds ?? Number.POSITIVE_INFINITY) * 1000;
    recordGrant(record.account, {
      ...{ id: session.id, lane: request.lane, at: now, isRollover: request.reason === 'rollover' },
      ...{ endsAt: now + durationMs, overAt: until + durationMs },
    });
    pending.add(session.id, { device: deviceOf(job.ask), isUnknown: !isKnown(job.rank), until });
    devices.know(who, record, now);
    const given: Answer = { ok: true, session };
    // After half of the window, a repeated answer would leave the device too little time.
    devices.keepAnswer(record, answerKey(job.ask), {
      answer: given,
      freshUntil: job.createdFrom + windowMs / 2,
    });
    return answer(job.ask, given);
  };

  const probed = (job: Job, deleted: boolean): IssuerEffect => ({
    type: 'confirm',
    ask: job.ask,
    probe: { session: deleted ? 'deleted' : 'expires' },
  });

  const failed = (job: Job, trouble: Trouble, draw: number, now: number): IssuerEffect => {
    const until = now + pauseMs(trouble);
    if (until > now && until > (pause?.until ?? 0)) pause = { until, trouble };
    const error = denialOf(trouble, draw);
    const freshMs = Math.min((error.retry_after_s ?? 0) * 1000, DENIAL_FRESH_MS);
    const record = devices.of(job.ask.who, now);
    const denial = { ok: false, error } as const;
    devices.keepAnswer(record, answerKey(job.ask), { answer: denial, freshUntil: now + freshMs });
    return answer(job.ask, denial);
  };

  const outcome = (
    job: Job,
    event: Extract<IssuerEvent, { type: 'created' | 'probed' | 'failed' }>,
    now: number,
  ): IssuerEffect => {
    switch (event.type) {
      case 'created':
        return created(job, event.session, now);
      case 'probed':
        return probed(job, event.deleted);
      case 'failed':
        return failed(job, event.trouble, event.draw, now);
    }
  };

  /** Sessions that could not be revoked count again. The device's next request tries to revoke them again. */
  const revoked = (event: Extract<IssuerEvent, { type: 'revoked' }>, now: number): void => {
    const { account } = devices.of(event.who, now);
    removeGone(account, event.gone);
    for (const session of account.granted) if (event.ids.includes(session.id)) session.leaving = false;
  };

  const malformed = (event: Extract<IssuerEvent, { type: 'malformed' }>, now: number): IssuerEffect => {
    const { who, id, reply, detail } = event;
    if (devices.isFlood(devices.of(who, now), false, now)) return { type: 'ignore', who, id, why: 'flood' };
    const error = {
      code: 'invalid_request',
      title: 'Invalid request',
      detail,
      final: true,
      retry_after_s: 300,
    };
    return { type: 'answer', who, id, reply, answer: { ok: false, error }, about: null, repeated: false };
  };

  return {
    handle(event, now) {
      if (event.type === 'asked') return asked(event.ask, event.draw, now);
      if (event.type === 'malformed') return [malformed(event, now)];
      if (event.type === 'woken') {
        wakeAt = Number.POSITIVE_INFINITY;
        return start(now, event.draw);
      }
      if (event.type === 'revoked') {
        revoked(event, now);
        return [];
      }
      const job = jobs.get(event.job);
      if (job === undefined) return [];
      if (event.type === 'ended') {
        const record = devices.of(job.ask.who, now);
        devices.forget(record, job.ask.request.lane);
        removeGone(record.account, event.ids);
        return [...create(job, now), ...start(now, event.draw)];
      }
      end(job, now);
      return [outcome(job, event, now), ...start(now, event.draw)];
    },
    get jobs() {
      return jobs.size;
    },
  };
}

function isStale(job: Job, now: number): boolean {
  return now - job.queuedAt > LONGEST_QUEUE_MS;
}
