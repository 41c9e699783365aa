/** Decides on a request: an answer at once, no answer, or a job. */
import { denial } from '../../protocol/mqtt/denials.ts';
import { probeKind, type TokenError } from '../../protocol/mqtt/token.ts';
import type { DeviceName } from '../config/owned-devices.ts';
import { isListed } from '../config/owned-devices.ts';
import { denialOf } from '../service/service-trouble.ts';
import { answer, answerKey, deny, ignore, isTrial, jobKey } from './ask.ts';
import { beginJobs } from './begin-jobs.ts';
import { busy, tooMany } from './denials.ts';
import type { DeviceRecord } from './device-registry.ts';
import type { Ask, IssuerEffect, IssuerEvent } from './issue-event.ts';
import type { IssuerState } from './issuer-state.ts';
import type { Job } from './job.ts';
import type { Rank } from './job-queue.ts';
import { judge, type Policy } from './mint/policy.ts';

/** A device that sends an invalid request has to be updated first. */
const INVALID_RETRY_S = 300;

export function decideRequest(state: IssuerState, ask: Ask, draw: number, now: number): IssuerEffect[] {
  const { options, devices, schedule } = state;
  const { who, request } = ask;
  const record = devices.of(who, now);
  const rank = rankOf(options, who, record);
  const say = (said: IssuerEffect): IssuerEffect[] => [unlessFlood(state, ask, rank, said, now)];
  if (probeKind(request) === 'backend')
    return devices.isProbeFlood(record, now) ? [ignore(ask, 'flood')] : say(confirmPresence(options, ask));
  const trial = isTrial(ask);
  if (devices.isFlood(record, trial, now)) return [ignore(ask, 'flood')];
  const lastAnswer = record.answered.get(answerKey(ask));
  if (lastAnswer !== undefined && now < lastAnswer.freshUntil)
    return say(answer(ask, lastAnswer.answer, true));

  const job = schedule.jobOfLane(jobKey(ask));
  if (job?.ask.request.id === request.id) {
    job.ask = ask;
    return [ignore(ask, 'in_progress')];
  }
  const verdict = judge(options, who, request);
  if (!verdict.ok) return say(answer(ask, verdict));
  const waitMs = devices.spendRequest(record, trial, now);
  if (waitMs > 0) return say(deny(ask, tooMany(options.limits, waitMs, draw)));
  if (job !== undefined)
    return wantsSame(job, ask) ? [replaceRequest(job, ask, now)] : say(deny(ask, busy('the lane', draw)));
  const error = refusal(state, rank, draw, now);
  if (error !== null) return say(deny(ask, error));
  const { input, allowance } = verdict;
  schedule.add({ key: jobKey(ask), ask, input, allowance, rank }, now);
  return beginJobs(state, draw, now);
}

/** A message that carries an id, but is not a valid request. */
export function denyMalformed(
  state: IssuerState,
  { who, id, reply, detail }: Extract<IssuerEvent, { type: 'malformed' }>,
  now: number,
): IssuerEffect {
  const { options, devices } = state;
  const record = devices.of(who, now);
  const about = { who, request: { id } };
  if (devices.isFlood(record, false, now)) return ignore(about, 'flood');
  const error = denial('invalid_request', detail, INVALID_RETRY_S);
  const answered: IssuerEffect = {
    type: 'answer',
    who,
    id,
    reply,
    answer: { ok: false, error },
    about: null,
    repeated: false,
  };
  return unlessFlood(state, about, rankOf(options, who, record), answered, now);
}

/** Confirms that the backend is available to this device: by the owner's policy, without asking the service. */
function confirmPresence(policy: Policy, ask: Ask): IssuerEffect {
  const verdict = judge(policy, ask.who, ask.request);
  return verdict.ok ? { type: 'confirm', ask, probe: { session: 'none' } } : answer(ask, verdict);
}

/** Whether the job of an older request of the lane makes the kind of session that this request wants. */
function wantsSame({ input }: Job, { request }: Ask): boolean {
  return input.intent === request.intent && input.connection_type === request.connection_type;
}

/** The device no longer waits for the lane's older request: the job answers the newer one. */
function replaceRequest(job: Job, ask: Ask, now: number): IssuerEffect {
  const ignored = ignore(job.ask, 'superseded');
  job.ask = ask;
  job.askedAt = now;
  return ignored;
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
  return schedule.isFull(rank)
    ? busy(`the limit of ${options.limits.createsPerSecond} sessions a second`, draw)
    : null;
}

/** Unknown devices get an answer only while few of them ask. */
function unlessFlood(
  { devices }: IssuerState,
  about: Parameters<typeof ignore>[0],
  rank: Rank,
  said: IssuerEffect,
  now: number,
): IssuerEffect {
  return devices.isUnknownFlood(rank, now) ? ignore(about, 'flood') : said;
}

function rankOf(policy: Policy, who: DeviceName, { knownSince }: DeviceRecord): Rank {
  return isListed(policy, who) ? 0 : (knownSince ?? Number.POSITIVE_INFINITY);
}
