/**
 * Decides on requests for tokens. Pure: events in, effects out, time passed in (monotonic milliseconds), nothing else.
 * The state is changed in place, because a fleet has thousands of devices.
 */

import type { DeviceName } from '../config/owned-devices.ts';
import { beginJobs } from './begin-jobs.ts';
import type { IssuerEffect, IssuerEvent } from './issue-event.ts';
import { beginIssuer, type IssuerOptions, type IssuerState } from './issuer-state.ts';
import { followResult } from './job-results.ts';
import { decideRequest, denyMalformed } from './request-decision.ts';

export interface Issuer {
  handle(event: IssuerEvent, now: number): IssuerEffect[];
  /** Registers devices that had a session before this instance started. */
  know(devices: readonly DeviceName[], now: number): void;
  /** Waiting and running jobs. */
  readonly jobs: number;
}

/** @param instance name of this backend in the store, unique for each start */
export function createIssuer(options: IssuerOptions, instance: string): Issuer {
  const state = beginIssuer(options, instance);
  return {
    handle: (event, now) => step(state, event, now),
    know(names, now) {
      const { devices } = state;
      for (const who of names) devices.know(who, devices.of(who, now), now);
    },
    get jobs() {
      return state.schedule.size;
    },
  };
}

function step(state: IssuerState, event: IssuerEvent, now: number): IssuerEffect[] {
  switch (event.type) {
    case 'asked':
      return decideRequest(state, event.ask, event.draw, now);
    case 'malformed':
      return [denyMalformed(state, event, now)];
    case 'woken':
      state.schedule.woken();
      return beginJobs(state, event.draw, now);
    default: {
      const job = state.schedule.job(event.job);
      return job === undefined ? [] : followResult(state, job, event, now);
    }
  }
}
