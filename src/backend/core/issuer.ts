/**
 * Decides on requests for tokens. Pure: events in, effects out, time passed in (monotonic milliseconds), nothing else.
 * The state is changed in place, because a fleet has thousands of devices.
 */

import { spend } from '../../core/rate.ts';
import type { BackendConfig } from '../../protocol/backend-config.ts';
import type { TokenError } from '../../protocol/mqtt/token.ts';
import type { CreateSessionInput, SessionWithToken } from '../../protocol/service/session.ts';
import { type DeviceBook, openDeviceBook } from './device-book.ts';
import type { Answer, Ask, IssuerEffect, IssuerEvent } from './issue-event.ts';
import { judge, type Policy, referenceOf } from './policy.ts';
import { denialOf, pauseMs, type Trouble } from './trouble.ts';

/** A job waits no longer than this for its turn: the device has given up by then. */
const LONGEST_QUEUE_MS = 20_000;
const MOST_JOBS = 2000;
const BUSY_RETRY_S = 5;
/** A denial is repeated to the same request so long at most. */
const DENIAL_FRESH_MS = 30_000;

interface Job {
  readonly number: number;
  readonly key: string;
  readonly input: CreateSessionInput;
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
  const book: DeviceBook = openDeviceBook(options.limits);
  const jobs = new Map<number, Job>();
  const jobsByLane = new Map<string, Job>();
  const queue: Job[] = [];
  let running = 0;
  let lastJob = 0;
  let pause: { until: number; trouble: Trouble } | null = null;

  const answer = (ask: Ask, given: Answer, repeated = false): IssuerEffect => {
    const { who, reply, request } = ask;
    return { kind: 'answer', who, id: request.id, reply, answer: given, about: request, repeated };
  };
  const pausedBy = (now: number): Trouble | null => {
    if (pause === null || now >= pause.until) return null;
    return { ...pause.trouble, retryAfterS: (pause.until - now) / 1000 };
  };

  const asked = (ask: Ask, draw: number, now: number): IssuerEffect[] => {
    const { who, request } = ask;
    const record = book.of(who, now);
    if (book.isFlood(record, now)) return [{ kind: 'ignore', who, id: request.id, why: 'flood' }];
    const given = record.answered.get(answerKey(ask));
    if (given !== undefined && now < given.freshUntil) return [answer(ask, given.answer, true)];

    const key = jobKey(ask);
    const job = jobsByLane.get(key);
    if (job?.ask.request.id === request.id) {
      job.ask = ask;
      return [{ kind: 'ignore', who, id: request.id, why: 'in_progress' }];
    }
    const verdict = judge(options, who, request);
    if (!verdict.ok) return [answer(ask, verdict)];
    const spent = spend(record.requests, options.limits, now);
    record.requests = spent.bucket;
    if (spent.waitMs > 0) return [answer(ask, { ok: false, error: tooMany(spent.waitMs, draw) })];
    if (job !== undefined) {
      const same =
        job.input.intent === request.intent && job.input.connection_type === request.connection_type;
      return same ? supersede(job, ask) : [answer(ask, { ok: false, error: busy(draw) })];
    }
    const trouble = pausedBy(now);
    if (trouble !== null) return [answer(ask, { ok: false, error: denialOf(trouble, draw) })];
    if (jobs.size >= MOST_JOBS) return [answer(ask, { ok: false, error: busy(draw) })];
    return [...enqueue(key, ask, verdict.input, now), ...start(now, draw)];
  };

  /** The device does not wait for its older request any more; the session that is being made is for the newer one. */
  const supersede = (job: Job, ask: Ask): IssuerEffect[] => {
    const { who, request } = job.ask;
    job.ask = ask;
    return [{ kind: 'ignore', who, id: request.id, why: 'superseded' }];
  };

  const enqueue = (key: string, ask: Ask, input: CreateSessionInput, now: number): IssuerEffect[] => {
    lastJob += 1;
    const job: Job = { number: lastJob, key, ask, input, queuedAt: now, createdFrom: now };
    jobs.set(job.number, job);
    jobsByLane.set(key, job);
    queue.push(job);
    return [];
  };

  const finish = (job: Job): void => {
    jobs.delete(job.number);
    jobsByLane.delete(job.key);
  };

  /** Begins jobs as far as the service may be asked at once. */
  const start = (now: number, draw: number): IssuerEffect[] => {
    const effects: IssuerEffect[] = [];
    const trouble = pausedBy(now);
    while (queue.length > 0 && (running < options.limits.concurrency || trouble !== null)) {
      const job = queue.shift();
      if (job === undefined) break;
      if (now - job.queuedAt > LONGEST_QUEUE_MS) {
        finish(job);
        effects.push({ kind: 'ignore', who: job.ask.who, id: job.ask.request.id, why: 'stale' });
      } else if (trouble !== null) {
        finish(job);
        effects.push(answer(job.ask, { ok: false, error: denialOf(trouble, draw) }));
      } else {
        running += 1;
        effects.push(begin(job, now));
      }
    }
    return effects;
  };

  const begin = (job: Job, now: number): IssuerEffect => {
    const { who, request } = job.ask;
    if (request.probe === true) return { kind: 'probe', job: job.number, input: job.input };
    const last = book.of(who, now).sessions.get(request.lane);
    const unused = last !== undefined && now < last.until ? last.id : null;
    // Asking again means that an answer was lost, ours or the service's: there may be sessions that we know nothing of,
    // of this lane's older requests, of another backend, or from before our start.
    if (unused !== null || request.attempt > 1) {
      const sessionId = request.attempt > 1 ? null : unused;
      return { kind: 'retire', job: job.number, reference: job.key, sessionId };
    }
    return create(job, now);
  };

  const create = (job: Job, now: number): IssuerEffect => {
    job.createdFrom = now;
    return { kind: 'create', job: job.number, input: job.input };
  };

  const created = (job: Job, session: SessionWithToken, now: number): IssuerEffect => {
    const { who, request } = job.ask;
    const record = book.of(who, now);
    // The service counts the window from some moment between our question and its answer: each use takes the safe end.
    const windowMs = (job.input.expires_in_seconds ?? 0) * 1000;
    book.remember(record, request.lane, { id: session.id, until: now + windowMs });
    const given: Answer = { ok: true, session };
    // Past half of its window the same answer would leave the device too little time.
    book.keepAnswer(record, answerKey(job.ask), {
      answer: given,
      freshUntil: job.createdFrom + windowMs / 2,
    });
    return answer(job.ask, given);
  };

  const probed = (job: Job, deleted: boolean): IssuerEffect => ({
    kind: 'confirm',
    ask: job.ask,
    probe: { session: deleted ? 'deleted' : 'expires' },
  });

  const failed = (job: Job, trouble: Trouble, draw: number, now: number): IssuerEffect => {
    const until = now + pauseMs(trouble);
    if (until > now && until > (pause?.until ?? 0)) pause = { until, trouble };
    const error = denialOf(trouble, draw);
    const freshMs = Math.min((error.retry_after_s ?? 0) * 1000, DENIAL_FRESH_MS);
    const record = book.of(job.ask.who, now);
    book.keepAnswer(record, answerKey(job.ask), { answer: { ok: false, error }, freshUntil: now + freshMs });
    return answer(job.ask, { ok: false, error });
  };

  const conclude = (
    job: Job,
    event: Extract<IssuerEvent, { kind: 'created' | 'probed' | 'failed' }>,
    now: number,
  ): IssuerEffect => {
    switch (event.kind) {
      case 'created':
        return created(job, event.session, now);
      case 'probed':
        return probed(job, event.deleted);
      case 'failed':
        return failed(job, event.trouble, event.draw, now);
    }
  };

  const misasked = (event: Extract<IssuerEvent, { kind: 'misasked' }>, now: number): IssuerEffect => {
    const { who, id, reply, detail } = event;
    if (book.isFlood(book.of(who, now), now)) return { kind: 'ignore', who, id, why: 'flood' };
    const error = {
      code: 'invalid_request',
      title: 'Invalid request',
      detail,
      final: true,
      retry_after_s: 300,
    };
    return { kind: 'answer', who, id, reply, answer: { ok: false, error }, about: null, repeated: false };
  };

  return {
    handle(event, now) {
      if (event.kind === 'asked') return asked(event.ask, event.draw, now);
      if (event.kind === 'misasked') return [misasked(event, now)];
      const job = jobs.get(event.job);
      if (job === undefined) return [];
      if (event.kind === 'retired') {
        book.forget(book.of(job.ask.who, now), job.ask.request.lane);
        return [create(job, now)];
      }
      finish(job);
      running -= 1;
      return [conclude(job, event, now), ...start(now, event.draw)];
    },
    get jobs() {
      return jobs.size;
    },
  };
}

/** A lane has one job at a time, and one trial beside it: neither is in the other's way. */
function jobKey({ who, request }: Ask): string {
  const reference = referenceOf(who, request.lane);
  return request.probe === true ? `${reference}/probe` : reference;
}

/** Ids are the asker's choice: two lanes may pick the same. */
function answerKey({ request }: Ask): string {
  return `${request.lane}/${request.id}`;
}

function tooMany(waitMs: number, draw: number): TokenError {
  const title = 'Too many requests';
  const detail = 'this device asks for tokens too often';
  const retry_after_s = Math.ceil((waitMs / 1000) * (1 + draw / 2));
  return { code: 'too_many_requests', title, detail, final: false, retry_after_s };
}

function busy(draw: number): TokenError {
  const detail = 'too many devices ask at once';
  const retry_after_s = Math.ceil(BUSY_RETRY_S * (1 + 2 * draw));
  return { code: 'backend_busy', title: 'Backend busy', detail, final: false, retry_after_s };
}
