/** What a request is about, as keys. */
import type { Ask } from './issue-event.ts';
import { referenceOf } from './policy.ts';

export function isTrial({ request }: Ask): boolean {
  return request.probe === true;
}

export function deviceOf({ who }: Ask): string {
  return `${who.tenant}/${who.device}`;
}

/** A lane has one job at a time, and one trial beside it: neither is in the other's way. */
export function jobKey(ask: Ask): string {
  const reference = referenceOf(ask.who, ask.request.lane);
  return isTrial(ask) ? `${reference}/probe` : reference;
}

/** Ids are the asker's choice: two lanes may pick the same. */
export function answerKey({ request }: Ask): string {
  return `${request.lane}/${request.id}`;
}
