/**
 * Decides on requests for tokens. Pure: events in, effects out, time passed in (monotonic milliseconds), nothing else.
 * The state is changed in place, because a fleet has thousands of devices.
 */

import type { BackendConfig } from '../../../protocol/backend-config.ts';
import { denial } from '../../../protocol/mqtt/denials.ts';
import { probeKind, type TokenError } from '../../../protocol/mqtt/token.ts';
import type { SessionWithToken } from '../../../protocol/service/session.ts';
import { answerKey, ignore, isTrial, jobKey } from './ask.ts';
import { busy, countUnknownDevices, tooMany, withoutStore } from './denials.ts';
import { type DeviceRecord, type DeviceRegistry, openDeviceRegistry } from './device-registry.ts';
import type { Answer, Ask, IssuerEffect, IssuerEvent } from './issue-event.ts';
import { createStep, firstStep, type Job, mintSteps, openJob, settleStep, windowOf } from './job.ts';
import { isKnown, openJobQueue, type Rank } from './job-queue.ts';
import { type Claim, settledMs } from './mint/claim.ts';
import { type DeviceName, isListed, judge, type Policy } from './policy.ts';
import { denialOf, pauseMs, type Trouble } from './service-trouble.ts';

/** Longest wait of a job in the queue (ms); the device has given up by then. */
const LONGEST_QUEUE_MS = 20_000;
const MOST_JOBS = 2000;
/** Longest expected wait that is accepted (ms). A request with a longer one is denied at once. */
const LONGEST_EXPECTED_MS = 10_000;
/** Longest time for which the same request gets the same denial (ms). */
const DENIAL_FRESH_MS = 30_000;

/** A device that sends an invalid request has to be updated first. */
const INVALID_RETRY_S = 300;

export interface Issuer {
  handle(event: IssuerEvent, now: number): IssuerEffect[];
  /** Devices that had a session before this instance started. */
  know(devices: readonly DeviceName[], now: number): void;
  /** Waiting and running jobs. */
  readonly jobs: number;
}

export type IssuerOptions = Policy & Pick<BackendConfig, 'limits' | 'service'>;

/** @param instance name of this backend in the store, unique for each start */
export function createIssuer(options: IssuerOptions, instance: string): Issuer {
  const devices: DeviceRegistry = openDeviceRegistry(options.limits);
  const jobs = new Map<number, Job>();
  const jobsByLane = new Map<string, Job>();
  const queue = openJobQueue<Job>(options.limits.createsPerSecond);
  /** Unknown devices get at most half of the parallel requests to the service. */
  const mostUnknown = Math.ceil(options.limits.concurrency / 2);
  const isUnknownFlood = countUnknownDevices();
  const terms = {
    instance,
    mostPending: options.limits.pendingSessions,
    settledMs: settledMs(options.service.timeout),
  };
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
    const lastAnswer = record.answered.get(answerKey(ask));
    if (lastAnswer !== undefined && now < lastAnswer.freshUntil)
      return [answer(ask, lastAnswer.answer, true)];

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
      return same ? supersede(job, ask, now) : [answer(ask, { ok: false, error: busy('the lane', draw) })];
    }
    const rank = rankOf(ask, record);
    const error = refusal(rank, draw, now);
    if (error !== null) return answerUnlessFlood(ask, rank, answer(ask, { ok: false, error }), now);
    enqueue({ key, ask, input: verdict.input, allowance: verdict.allowance, rank }, now);
    return start(now, draw);
  };

  /** Why no job is begun for a valid request; null if one is. */
  const refusal = (rank: Rank, draw: number, now: number): TokenError | null => {
    const trouble = pausedBy(now);
    if (trouble !== null) return denialOf(trouble, draw);
    const isLong = queue.waitMs(rank) > LONGEST_EXPECTED_MS || jobs.size >= MOST_JOBS;
    return isLong ? busy(`${options.limits.createsPerSecond} sessions a second`, draw) : null;
  };

  /** Unknown devices get an answer only while few of them ask. */
  const answerUnlessFlood = (ask: Ask, rank: Rank, effect: IssuerEffect, now: number): IssuerEffect[] =>
    isUnknownFlood(rank, now) ? [ignore(ask, 'flood')] : [effect];

  /** Confirms at once that the backend is available, by the owner's policy only: without the service and without limits. */
  const confirmPresence = (ask: Ask, record: DeviceRecord, now: number): IssuerEffect[] => {
    if (devices.isProbeFlood(record, now)) return [ignore(ask, 'flood')];
    const verdict = judge(options, ask.who, ask.request);
    const effect: IssuerEffect = verdict.ok
      ? { type: 'confirm', ask, probe: { session: 'none' } }
      : answer(ask, verdict);
    return answerUnlessFlood(ask, rankOf(ask, record), effect, now);
  };

  /** The device no longer waits for its older request. The pending session answers the newer request. */
  const supersede = (job: Job, ask: Ask, now: number): IssuerEffect[] => {
    const ignored = ignore(job.ask, 'superseded');
    job.ask = ask;
    job.askedAt = now;
    return [ignored];
  };

  const enqueue = (wanted: Pick<Job, 'key' | 'ask' | 'input' | 'allowance' | 'rank'>, now: number): void => {
    lastJob += 1;
    const job = openJob({ number: lastJob, ...wanted }, now);
    jobs.set(job.number, job);
    jobsByLane.set(job.key, job);
    queue.add(job);
  };

  const forget = (job: Job): void => {
    jobs.delete(job.number);
    jobsByLane.delete(job.key);
  };

  /** The end of a job that was begun. */
  const end = (job: Job): void => {
    forget(job);
    stop(job);
  };

  /** The job no longer takes one of the parallel requests. */
  const stop = (job: Job): void => {
    running -= 1;
    if (!isKnown(job.rank)) unknownRunning -= 1;
  };

  /** Begins jobs within the limits on parallel requests and on sessions a second. */
  const start = (now: number, draw: number): IssuerEffect[] => {
    const effects: IssuerEffect[] = [];
    const trouble = pausedBy(now);
    for (const job of queue.drop((one) => trouble !== null || isStale(one, now))) {
      forget(job);
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
      effects.push(firstStep(job, terms, now));
    }
    return effects;
  };

  const wake = (now: number, afterMs: number): IssuerEffect[] => {
    if (wakeAt <= now + afterMs && wakeAt > now) return [];
    wakeAt = now + afterMs;
    return [{ type: 'wake', afterMs }];
  };

  const claimed = (job: Job, claim: Claim | null, draw: number, now: number): IssuerEffect[] => {
    if (claim === null)
      return finish(job, [answer(job.ask, { ok: false, error: withoutStore(draw) })], draw, now);
    switch (claim.kind) {
      case 'denied':
        return finish(job, [answer(job.ask, { ok: false, error: claim.error })], draw, now);
      case 'superseded':
        return finish(job, [ignore(job.ask, 'superseded')], draw, now);
      case 'wait':
        stop(job);
        return [
          ignore(job.ask, 'elsewhere'),
          { type: 'hold', job: job.number, afterMs: claim.ms },
          ...start(now, draw),
        ];
      case 'repeat':
        job.createdFrom = now;
        job.repeatUntil = now + claim.freshMs;
        return [{ type: 'fetch', job: job.number, session: claim.session }];
      case 'mint':
        return mintSteps(job, claim, now);
    }
  };

  const settled = (
    job: Job,
    { session, kept, draw }: Extract<IssuerEvent, { type: 'settled' }>,
    now: number,
  ): IssuerEffect[] => {
    const { who } = job.ask;
    if (kept === true)
      return finish(job, [grant(job, session, job.createdFrom + windowOf(job) / 2, now)], draw, now);
    const discard: IssuerEffect = { type: 'discard', who, id: session.id };
    // Another backend has the older request; the newer one has come to this backend.
    if (kept === false && job.ask.request.id !== job.claimed) return [discard, firstStep(job, terms, now)];
    const said: IssuerEffect =
      kept === null
        ? answer(job.ask, { ok: false, error: withoutStore(draw) })
        : ignore(job.ask, 'elsewhere');
    return finish(job, [discard, said], draw, now);
  };

  /** A device that uses the session has its answer: this request has crossed it. */
  const fetched = (
    job: Job,
    { session, draw }: Extract<IssuerEvent, { type: 'fetched' }>,
    now: number,
  ): IssuerEffect[] => {
    const isSame = job.ask.request.id === job.claimed;
    if (isSame && session === 'used') return finish(job, [ignore(job.ask, 'elsewhere')], draw, now);
    if (isSame && session !== null && session !== 'used')
      return finish(job, [grant(job, session, job.repeatUntil, now, true)], draw, now);
    job.anew = isSame;
    return [firstStep(job, terms, now)];
  };

  const grant = (
    job: Job,
    session: SessionWithToken,
    freshUntil: number,
    now: number,
    repeated = false,
  ): IssuerEffect => {
    const record = devices.of(job.ask.who, now);
    devices.know(job.ask.who, record, now);
    const granted: Answer = { ok: true, session };
    devices.keepAnswer(record, answerKey(job.ask), { answer: granted, freshUntil });
    return answer(job.ask, granted, repeated);
  };

  /** Ends a job with these effects, and begins the next ones. */
  const finish = (job: Job, effects: IssuerEffect[], draw: number, now: number): IssuerEffect[] => {
    end(job);
    return [...effects, ...start(now, draw)];
  };

  const probed = (job: Job, deleted: boolean): IssuerEffect => ({
    type: 'confirm',
    ask: job.ask,
    probe: { session: deleted ? 'deleted' : 'expires' },
  });

  const failed = (job: Job, trouble: Trouble, draw: number, now: number): IssuerEffect[] => {
    const until = now + pauseMs(trouble);
    if (until > now && until > (pause?.until ?? 0)) pause = { until, trouble };
    const error = denialOf(trouble, draw);
    const freshMs = Math.min((error.retry_after_s ?? 0) * 1000, DENIAL_FRESH_MS);
    const { who, request } = job.ask;
    const denial = { ok: false, error } as const;
    devices.keepAnswer(devices.of(who, now), answerKey(job.ask), {
      answer: denial,
      freshUntil: now + freshMs,
    });
    const denied = answer(job.ask, denial);
    return isTrial(job.ask)
      ? [denied]
      : [denied, { type: 'release', who, lane: request.lane, request: job.claimed }];
  };

  const malformed = (event: Extract<IssuerEvent, { type: 'malformed' }>, now: number): IssuerEffect => {
    const { who, id, reply, detail } = event;
    if (devices.isFlood(devices.of(who, now), false, now)) return { type: 'ignore', who, id, why: 'flood' };
    const error = denial('invalid_request', detail, INVALID_RETRY_S);
    return { type: 'answer', who, id, reply, answer: { ok: false, error }, about: null, repeated: false };
  };

  const ofJob = (job: Job, event: Extract<IssuerEvent, { job: number }>, now: number): IssuerEffect[] => {
    const { draw } = event;
    switch (event.type) {
      case 'claimed':
        return claimed(job, event.claim, draw, now);
      case 'held':
        queue.add(job);
        return start(now, draw);
      case 'fetched':
        return fetched(job, event, now);
      case 'ended':
        return [createStep(job, now)];
      case 'created':
        return [settleStep(job, event.session, terms, now)];
      case 'settled':
        return settled(job, event, now);
      case 'probed':
        return finish(job, [probed(job, event.deleted)], draw, now);
      case 'failed':
        return finish(job, failed(job, event.trouble, draw, now), draw, now);
    }
  };

  return {
    handle(event, now) {
      if (event.type === 'asked') return asked(event.ask, event.draw, now);
      if (event.type === 'malformed') return [malformed(event, now)];
      if (event.type === 'woken') {
        wakeAt = Number.POSITIVE_INFINITY;
        return start(now, event.draw);
      }
      const job = jobs.get(event.job);
      return job === undefined ? [] : ofJob(job, event, now);
    },
    know(names, now) {
      for (const who of names) devices.know(who, devices.of(who, now), now);
    },
    get jobs() {
      return jobs.size;
    },
  };
}

function isStale(job: Job, now: number): boolean {
  return now - job.queuedAt > LONGEST_QUEUE_MS;
}
