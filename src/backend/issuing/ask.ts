/** A request, with its sender and the address for the answer. */
import { probeKind, type TokenError } from '../../protocol/mqtt/token.ts';
import type { DeviceName } from '../config/owned-devices.ts';
import type { Answer, Ask, IssuerEffect } from './issue-event.ts';
import { referenceOf } from './mint/policy.ts';

export function isTrial({ request }: Ask): boolean {
  return probeKind(request) !== null;
}

export function deviceOf({ who }: Ask): string {
  return `${who.tenant}/${who.device}`;
}

/** A lane has at most one job and, independently, one trial. */
export function jobKey(ask: Ask): string {
  const reference = referenceOf(ask.who, ask.request.lane);
  return isTrial(ask) ? `${reference}/probe` : reference;
}

/** The lane is part of the key, because two lanes may choose the same id. */
export function answerKey({ request }: Ask): string {
  return `${request.lane}/${request.id}`;
}

/** @param repeated the request has had this answer before */
export function answer({ who, request, reply }: Ask, given: Answer, repeated = false): IssuerEffect {
  return { type: 'answer', who, id: request.id, reply, answer: given, about: request, repeated };
}

export function deny(ask: Ask, error: TokenError): IssuerEffect {
  return answer(ask, { ok: false, error });
}

/** The effect that sends no answer. */
export function ignore(
  { who, request }: { readonly who: DeviceName; readonly request: Pick<Ask['request'], 'id'> },
  why: Extract<IssuerEffect, { type: 'ignore' }>['why'],
): IssuerEffect {
  return { type: 'ignore', who, id: request.id, why };
}
