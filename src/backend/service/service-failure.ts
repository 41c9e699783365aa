import type { HttpAnswer, NoAnswer } from '../../adapters/network/http-client.ts';
import { ownLine, shownAddress } from '../../adapters/own-line.ts';
import { readRetryAfter } from '../../adapters/retry-after.ts';
/** Turns a failed request to the service into a `Trouble`. */
import { parseJson } from '../../protocol/common/json.ts';
import type { WallMs } from '../../protocol/common/time.ts';
import { errorEnvelopeSchema, type ServiceError } from '../../protocol/service/error.ts';
import { type Trouble, troubleKindOf } from './service-trouble.ts';

const LONGEST_DETAIL = 200;
const LONGEST_RETRY_AFTER_S = 3600;

/** A request to the service failed. The message is safe to log. */
export class ServiceFailure extends Error {
  readonly trouble: Trouble;
  /** HTTP status; null if there was no answer. */
  readonly status: number | null;
  constructor(trouble: Trouble, status: number | null, message: string) {
    super(message);
    this.trouble = trouble;
    this.status = status;
  }
}

/** @param operation what failed, such as "create a session" */
export function failureOfSilence(error: NoAnswer, operation: string): ServiceFailure {
  const trouble = { kind: error.kind, detail: null, retryAfterS: null };
  return new ServiceFailure(trouble, null, `cannot ${operation}: ${error.message}`);
}

/** A successful answer that violates the specification. `where` names the field, never its value. */
export function failureOfShape(status: number, operation: string, where: string): ServiceFailure {
  const trouble: Trouble = { kind: 'malformed', detail: null, retryAfterS: null };
  return new ServiceFailure(
    trouble,
    status,
    `cannot ${operation}: the service's answer is malformed (${where})`,
  );
}

/**
 * An answer with an error status.
 * @param scrub removes secrets from a text
 * @param wall now, for a `Retry-After` that is a date
 */
export function failureOfAnswer(
  answer: HttpAnswer,
  operation: string,
  scrub: (text: string) => string,
  wall: WallMs | null,
): ServiceFailure {
  const errors = readErrors(answer.body);
  const said = errors.map(({ title, detail }) => `${title}: ${detail}`).join('; ');
  const detail = said === '' ? null : scrub(said).slice(0, LONGEST_DETAIL);
  const kind = troubleKindOf(answer.status, errors);
  const retryAfterS = retryAfterSeconds(answer.headers, wall);
  const { location } = answer.headers;
  const target = location === undefined ? null : scrub(shownAddress(location) ?? ownLine(location));
  const leads = target === null ? '' : `, which leads to ${target}`;
  const words = `cannot ${operation}: HTTP ${answer.status}${leads}${detail === null ? '' : ` (${detail})`}`;
  return new ServiceFailure({ kind, detail, retryAfterS }, answer.status, words);
}

function readErrors(body: string): ServiceError[] {
  return errorEnvelopeSchema.safeParse(parseJson(body)).data?.errors ?? [];
}

function retryAfterSeconds(headers: HttpAnswer['headers'], wall: WallMs | null): number | null {
  const ms = readRetryAfter(headers, wall);
  return ms === null ? null : Math.min(Math.ceil(ms / 1000), LONGEST_RETRY_AFTER_S);
}
