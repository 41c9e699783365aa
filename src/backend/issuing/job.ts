/** A request whose session or trial is being created. */
import type { CreateSessionInput, SessionWithToken } from '../../protocol/service/session.ts';
import { isTrial } from './ask.ts';
import type { Ask, IssuerEffect } from './issue-event.ts';
import { isKnown, type Rank } from './job-queue.ts';
import type { Claim } from './mint/claim.ts';
import type { Allowance } from './mint/policy.ts';

/** Longest wait of a request in the queue (ms); the device has given up by then. */
const LONGEST_QUEUE_MS = 20_000;

export interface Job {
  readonly number: number;
  readonly key: string;
  input: CreateSessionInput;
  readonly allowance: Allowance;
  readonly rank: Rank;
  ask: Ask;
  /** Arrival time of the request that the job answers now. */
  askedAt: number;
  /** Time until which an earlier session may still be given again. */
  repeatUntil: number;
  /** The request whose row in the store this instance holds. */
  claimed: string;
  /** A new session is needed: an earlier one cannot be given again. */
  anew: boolean;
  createdFrom: number;
}

export type NewJob = Pick<Job, 'number' | 'key' | 'ask' | 'input' | 'allowance' | 'rank'>;

export function openJob(wanted: NewJob, now: number): Job {
  const times = { askedAt: now, repeatUntil: now, createdFrom: now };
  return { ...wanted, ...times, claimed: wanted.ask.request.id, anew: false };
}

export function isStale({ askedAt }: Job, now: number): boolean {
  return now - askedAt > LONGEST_QUEUE_MS;
}

/** This backend's name, and the limits of a claim. */
export interface Terms {
  readonly instance: string;
  readonly mostPending: number;
  readonly settledMs: number;
}

/** The first step of a job that may begin. */
export function firstStep(job: Job, terms: Terms, now: number): IssuerEffect {
  const { number, input, ask, allowance, anew } = job;
  if (isTrial(ask)) return { type: 'probe', job: number, input };
  const { who, request } = ask;
  job.claimed = request.id;
  const maxMs = (input.max_session_duration_seconds ?? Number.POSITIVE_INFINITY) * 1000;
  const isUnknown = !isKnown(job.rank);
  const wanted = { ...terms, request, allowance, anew, maxMs, isUnknown, askedAgoMs: now - job.askedAt };
  return { type: 'claim', job: number, who, wanted };
}

/** The steps that follow a claim: old sessions end, then the service is asked. */
export function mintSteps(job: Job, claim: Extract<Claim, { kind: 'mint' }>, now: number): IssuerEffect[] {
  const { who, request } = job.ask;
  const { list, unused, revoke: ids, durationMs } = claim;
  if (Number.isFinite(durationMs))
    job.input = { ...job.input, max_session_duration_seconds: Math.floor(durationMs / 1000) };
  const revoke: IssuerEffect[] = ids.length > 0 ? [{ type: 'revoke', who, ids }] : [];
  if (!list && unused === null) return [...revoke, createStep(job, now)];
  const wanted = { lane: request.lane, request: job.claimed, sessionId: list ? null : unused };
  return [...revoke, { type: 'end', job: job.number, who, ...wanted }];
}

export function createStep(job: Job, now: number): IssuerEffect {
  job.createdFrom = now;
  return { type: 'create', job: job.number, input: job.input };
}

/** The store assigns the session to the lane before the device receives the session. */
export function settleStep(
  job: Job,
  session: SessionWithToken,
  { instance }: Terms,
  now: number,
): IssuerEffect {
  const { who, request } = job.ask;
  const maxS = job.input.max_session_duration_seconds ?? Number.POSITIVE_INFINITY;
  const made = {
    instance,
    lane: request.lane,
    request: job.claimed,
    answers: request.id,
    session: session.id,
    isRollover: request.reason === 'rollover',
    isUnknown: !isKnown(job.rank),
    askedAgoMs: now - job.askedAt,
    madeInMs: now - job.createdFrom,
    windowMs: windowOf(job),
    durationMs: maxS * 1000,
  };
  return { type: 'settle', job: job.number, who, made, session };
}

/** Time within which the session's first stream must begin (ms). */
export function windowOf({ input }: Job): number {
  return (input.expires_in_seconds ?? 0) * 1000;
}
