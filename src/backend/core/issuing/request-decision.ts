/** Decides on a request: an answer at once, no answer, or a job. */
import { denial } from '../../../protocol/mqtt/denials.ts';
import { probeKind, type TokenError } from '../../../protocol/mqtt/token.ts';
import { answer, answerKey, deny, ignore, isTrial, jobKey } from './ask.ts';
import { beginJobs } from './begin-jobs.ts';
import { busy, tooMany } from './denials.ts';
import type { DeviceRecord } from './device-registry.ts';
import type { Ask, IssuerEffect, IssuerEvent } from './issue-event.ts';
import type { IssuerState } from './issuer-state.ts';
import type { Job } from './job.ts';
import type { Rank } from './job-queue.ts';
import { isListed, judge, type Verdict } from './policy.ts';
import { denialOf } from './service-trouble.ts';

/** A device that sends an invalid request has to be updated first. */
const INVALID_RETRY_S = 300;

export function decideRequest(state: IssuerState, ask: Ask, draw: number, now: number): IssuerEffect[] {
  const { options, devices, schedule } = state;
  const { who, request } = ask;
  const record = devices.of(who, now);
  if (probeKind(request) === 'backend') return confirmPresence(state, ask, record, now);
  const trial = isTrial(ask);
  if (devices.isFlood(record, trial, now)) return [ignore(ask, 'flood')];
  const lastAnswer = record.answered.get(answerKey(ask));
  if (lastAnswer !== undefined && now < lastAnswer.freshUntil) return [answer(ask, lastAnswer.answer, true)];

  const job = schedule.jobOfLane(jobKey(ask));
  if (job?.ask.request.id === request.id) {
    job.ask = ask;
    return [ignore(ask, 'in_progress')];
  }
  const verdict = judge(options, who, request);
  if (!verdict.ok) return [answer(ask, verdict)];
  const waitMs = devices.spendRequest(record, trial, now);
  if (waitMs > 0) return [deny(ask, tooMany(options.limits, waitMs, draw))];
  if (job !== undefined) return [replaceRequest(job, ask, draw, now)];
  return beginJob(state, ask, verdict, rankOf(state, ask, record), draw, now);
}

/** A message that carries an id, but is not a valid request. */
export function denyMalformed(
  { devices }: IssuerState,
  { who, id, reply, detail }: Extract<IssuerEvent, { type: 'malformed' }>,
  now: number,
): IssuerEffect {
  if (devices.isFlood(devices.of(who, now), false, now)) return { type: 'ignore', who, id, why: 'flood' };
  const error = denial('invalid_request', detail, INVALID_RETRY_S);
  return { type: 'answer', who, id, reply, answer: { ok: false, error }, about: null, repeated: false };
}

/** Confirms at once that the backend is available, by the owner's policy only: without the service and without limits. */
function confirmPresence(state: IssuerState, ask: Ask, record: DeviceRecord, now: number): IssuerEffect[] {
  if (state.devices.isProbeFlood(record, now)) return [ignore(ask, 'flood')];
  const verdict = judge(state.options, ask.who, ask.request);
  const effect: IssuerEffect = verdict.ok
    ? { type: 'confirm', ask, probe: { session: 'none' } }
    : answer(ask, verdict);
  return [unlessFlood(state, ask, rankOf(state, ask, record), effect, now)];
}

/** The device no longer waits for the lane's older request: the job answers the newer one, unless that wants another kind of session. */
function replaceRequest(job: Job, ask: Ask, draw: number, now: number): IssuerEffect {
  const { intent, connection_type } = ask.request;
  if (job.input.intent !== intent || job.input.connection_type !== connection_type)
    return deny(ask, busy('the lane', draw));
  const ignored = ignore(job.ask, 'superseded');
  job.ask = ask;
  job.askedAt = now;
  return ignored;
}

function beginJob(
  state: IssuerState,
  ask: Ask,
  { input, allowance }: Extract<Verdict, { ok: true }>,
  rank: Rank,
  draw: number,
  now: number,
): IssuerEffect[] {
  const error = refusal(state, rank, draw, now);
  if (error !== null) return [unlessFlood(state, ask, rank, deny(ask, error), now)];
  state.schedule.add({ key: jobKey(ask), ask, input, allowance, rank }, now);
  return beginJobs(state, draw, now);
}

/** Why no job is begun for a valid request; null if one is. */
function refusal(
  { options, schedule, pause }: IssuerState,
  rank: Rank,
  draw: number,
  now: number,
): TokenError | null {
  const trouble = pause.at(now);
  if (trouble !== null) return denialOf(trouble, draw);
  return schedule.isFull(rank) ? busy(`${options.limits.createsPerSecond} sessions a second`, draw) : null;
}

/** Unknown devices get an answer only while few of them ask. */
function unlessFlood(
  { devices }: IssuerState,
  ask: Ask,
  rank: Rank,
  effect: IssuerEffect,
  now: number,
): IssuerEffect {
  return devices.isUnknownFlood(rank, now) ? ignore(ask, 'flood') : effect;
}

function rankOf({ options }: IssuerState, { who }: Ask, { knownSince }: DeviceRecord): Rank {
  return isListed(options, who) ? 0 : (knownSince ?? Number.POSITIVE_INFINITY);
}
