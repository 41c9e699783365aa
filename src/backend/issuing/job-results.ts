/** Decides what follows from the result of a job's step: the next step, or an answer and the end of the job. */
import type { SessionWithToken } from '../../protocol/service/session.ts';
import { denialOf } from '../service/service-trouble.ts';
import { answer, answerKey, deny, ignore, isTrial } from './ask.ts';
import { beginJobs } from './begin-jobs.ts';
import { withoutStore } from './denials.ts';
import type { Answer, IssuerEffect, IssuerEvent } from './issue-event.ts';
import type { IssuerState } from './issuer-state.ts';
import { createStep, firstStep, type Job, mintSteps, settleStep, windowOf } from './job.ts';

/** Longest time for which the same request gets the same denial (ms). */
const DENIAL_FRESH_MS = 30_000;

/** An event that concerns one job. */
export type JobResult = Extract<IssuerEvent, { job: number }>;

type Result<T extends JobResult['type']> = Extract<JobResult, { type: T }>;

export function followResult(state: IssuerState, job: Job, event: JobResult, now: number): IssuerEffect[] {
  switch (event.type) {
    case 'claimed':
      return claimed(state, job, event, now);
    case 'held':
      state.schedule.resume(job);
      return beginJobs(state, event.draw, now);
    case 'fetched':
      return fetched(state, job, event, now);
    case 'ended':
      return [createStep(job, now)];
    case 'created':
      return [settleStep(job, event.session, state.terms, now)];
    case 'settled':
      return settled(state, job, event, now);
    case 'probed':
      return finish(state, job, [confirmTrial(job, event.deleted)], event.draw, now);
    case 'failed':
      return finish(state, job, failed(state, job, event, now), event.draw, now);
  }
}

function claimed(
  state: IssuerState,
  job: Job,
  { claim, draw }: Result<'claimed'>,
  now: number,
): IssuerEffect[] {
  if (claim === null) return finish(state, job, [deny(job.ask, withoutStore(draw))], draw, now);
  switch (claim.kind) {
    case 'denied':
      return finish(state, job, [deny(job.ask, claim.error)], draw, now);
    case 'superseded':
      // The claim was for an older request: this backend has received a newer one meanwhile.
      if (job.ask.request.id !== job.claimed) return [firstStep(job, state.terms, now)];
      return finish(state, job, [ignore(job.ask, 'superseded')], draw, now);
    case 'wait':
      state.schedule.hold(job);
      return [
        ignore(job.ask, 'elsewhere'),
        { type: 'hold', job: job.number, afterMs: claim.ms },
        ...beginJobs(state, draw, now),
      ];
    case 'repeat':
      job.repeatUntil = now + claim.freshMs;
      return [{ type: 'fetch', job: job.number, session: claim.session }];
    case 'mint':
      return mintSteps(job, claim, now);
  }
}

function fetched(
  state: IssuerState,
  job: Job,
  { session, draw }: Result<'fetched'>,
  now: number,
): IssuerEffect[] {
  const isSame = job.ask.request.id === job.claimed;
  // The device already uses the session, so it has its answer: the two messages crossed.
  if (isSame && session === 'used') return finish(state, job, [ignore(job.ask, 'elsewhere')], draw, now);
  if (isSame && session !== null && session !== 'used')
    return finish(state, job, [grant(state, job, session, job.repeatUntil, now, true)], draw, now);
  job.anew = isSame;
  return [firstStep(job, state.terms, now)];
}

function settled(
  state: IssuerState,
  job: Job,
  { session, kept, draw }: Result<'settled'>,
  now: number,
): IssuerEffect[] {
  if (kept === true) {
    const freshUntil = job.createdFrom + windowOf(job) / 2;
    return finish(state, job, [grant(state, job, session, freshUntil, now)], draw, now);
  }
  const discard: IssuerEffect = { type: 'discard', who: job.ask.who, id: session.id };
  // Another backend took over the older request, but this backend has received a newer one.
  if (kept === false && job.ask.request.id !== job.claimed)
    return [discard, firstStep(job, state.terms, now)];
  const said = kept === null ? deny(job.ask, withoutStore(draw)) : ignore(job.ask, 'elsewhere');
  return finish(state, job, [discard, said], draw, now);
}

/** @param freshUntil until when the same request gets the same session */
function grant(
  { devices }: IssuerState,
  job: Job,
  session: SessionWithToken,
  freshUntil: number,
  now: number,
  repeated = false,
): IssuerEffect {
  const record = devices.of(job.ask.who, now);
  devices.know(job.ask.who, record, now);
  const granted: Answer = { ok: true, session };
  devices.keepAnswer(record, answerKey(job.ask), { answer: granted, freshUntil });
  return answer(job.ask, granted, repeated);
}

function confirmTrial(job: Job, deleted: boolean): IssuerEffect {
  return { type: 'confirm', ask: job.ask, probe: { session: deleted ? 'deleted' : 'expires' } };
}

function failed(
  { devices, pause }: IssuerState,
  { ask, claimed: request }: Job,
  { trouble, draw }: Result<'failed'>,
  now: number,
): IssuerEffect[] {
  pause.note(trouble, now);
  const error = denialOf(trouble, draw);
  const freshMs = Math.min((error.retry_after_s ?? 0) * 1000, DENIAL_FRESH_MS);
  const denied: Answer = { ok: false, error };
  devices.keepAnswer(devices.of(ask.who, now), answerKey(ask), { answer: denied, freshUntil: now + freshMs });
  if (isTrial(ask)) return [answer(ask, denied)];
  return [answer(ask, denied), { type: 'release', who: ask.who, lane: ask.request.lane, request }];
}

/** Ends a job with these effects, and begins the next ones. */
function finish(
  state: IssuerState,
  job: Job,
  effects: IssuerEffect[],
  draw: number,
  now: number,
): IssuerEffect[] {
  state.schedule.end(job);
  return [...effects, ...beginJobs(state, draw, now)];
}
