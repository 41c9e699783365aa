import type { Refusal } from '../../ports/stream.ts';
import { REFUSAL_REASONS, type RefusalReason } from '../../protocol/service/error.ts';

function isReason(value: unknown): value is RefusalReason {
  return REFUSAL_REASONS.some((reason) => reason === value);
}

/** Fields of a refusal that may show its reason: at the upgrade, in a message, or in a close frame. */
export interface RefusalSigns {
  readonly httpStatus?: number | undefined;
  readonly errorCode?: number | null | undefined;
  /** Any texts that may hold a reason: `reason`, `code`, `title`, `type`, a close reason. */
  readonly texts: readonly (string | null | undefined)[];
}

const REASON_BY_NUMBER: Readonly<Record<number, RefusalReason>> = {
  202100: 'session_already_used',
  202102: 'max_duration_reached',
};

/** Finds the session rule that a refusal names (docs/service.md 7): first by its reason, then by its number. */
export function readRefusalReason(signs: RefusalSigns): RefusalReason | null {
  for (const text of signs.texts) {
    if (isReason(text)) return text;
  }
  for (const text of signs.texts) {
    // Titles and problem types spell the names with blanks or hyphens.
    const words = text?.toLowerCase().replace(/[\s-]+/g, '_');
    const reasonInText = REFUSAL_REASONS.find((reason) => words?.includes(reason));
    if (reasonInText !== undefined) return reasonInText;
  }
  return REASON_BY_NUMBER[signs.errorCode ?? 0] ?? null;
}

/** Seen on a live service; the specification gives no number. */
const INSUFFICIENT_BALANCE = 100_050;
const BALANCE = /(^|[^a-z])(balance|insufficient[_\s-]funds)([^a-z]|$)/i;
const BLOCKED = /(^|[^a-z])account([_\s-]+is)?[_\s-]+blocked([^a-z]|$)/i;

/** An error code, and also the text in the close frame that follows the error. */
const SERVICE_TIMEOUT = 'SERVICE_TIMEOUT';

/** The reason that a refusal or a close names: a session rule, a timeout, or the account's state (docs/service.md 3.3). Null: unknown. */
export function readNamedRefusal(signs: RefusalSigns): Refusal | null {
  const reason = readRefusalReason(signs);
  if (reason === 'pending_sessions_limit_reached') return 'session_limit_reached';
  if (reason !== null) return reason;
  if (signs.texts.includes(SERVICE_TIMEOUT)) return 'service_timeout';
  const says = (what: RegExp): boolean => signs.texts.some((text) => what.test(text ?? ''));
  if (signs.errorCode === INSUFFICIENT_BALANCE || says(BALANCE)) return 'insufficient_balance';
  return says(BLOCKED) ? 'account_blocked' : null;
}

/** Classifies a refusal: by the reason that it names, otherwise by its HTTP status. */
export function classifyRefusal(signs: RefusalSigns): Refusal {
  const named = readNamedRefusal(signs);
  if (named !== null) return named;
  switch (signs.httpStatus) {
    case 402:
      return 'insufficient_balance';
    case 401:
    case 403:
    case 404:
      return 'forbidden';
    case 409:
      return 'session_already_used';
    case 410:
      return 'max_duration_reached';
    default:
      return 'service_error';
  }
}
