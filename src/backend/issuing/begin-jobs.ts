/** Begins waiting jobs: after each new one, and whenever one has ended. */

import { denialOf } from '../service/service-trouble.ts';
import { deny, ignore } from './ask.ts';
import type { IssuerEffect } from './issue-event.ts';
import type { IssuerState } from './issuer-state.ts';
import { firstStep, isStale } from './job.ts';

/** During a pause no job begins, and those that wait are denied. */
export function beginJobs(
  { schedule, pause, terms }: IssuerState,
  draw: number,
  now: number,
): IssuerEffect[] {
  const trouble = pause.at(now);
  const effects: IssuerEffect[] = [];
  for (const job of schedule.dropWaiting((one) => trouble !== null || isStale(one, now))) {
    if (isStale(job, now)) effects.push(ignore(job.ask, 'stale'));
    else if (trouble !== null) effects.push(deny(job.ask, denialOf(trouble, draw)));
  }
  const { begun, wakeAfterMs } = schedule.begin(now);
  for (const job of begun) effects.push(firstStep(job, terms, now));
  if (wakeAfterMs !== null) effects.push({ type: 'wake', afterMs: wakeAfterMs });
  return effects;
}
