/** What a request is about. */
import { probeKind } from '../../protocol/mqtt/token.ts';
import type { Ask, IssuerEffect } from './issue-event.ts';
import { referenceOf } from './policy.ts';

export function isTrial({ request }: Ask): boolean {
  return probeKind(request) !== null;
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

/** No answer. */
export function ignore(
  { who, request }: Ask,
  why: Extract<IssuerEffect, { type: 'ignore' }>['why'],
): IssuerEffect {
  return { type: 'ignore', who, id: request.id, why };
}
