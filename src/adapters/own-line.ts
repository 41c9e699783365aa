import { oneLine } from '../protocol/common/plain-text.ts';
import { redactText } from './redaction.ts';

/** Longest line that is shown (characters). */
const LONGEST = 160;
/** User and password in an address, whatever characters the password has. */
const LOGIN = /:\/\/[^\s"'<>]*@/g;

/**
 * The text of a library, a tool or a peer, made fit to show beside our advice: one line, limited, without control characters and
 * secrets. It often names a cause that our own lists lack.
 */
export function ownLine(text: string): string {
  const most = 4 * LONGEST;
  const line = oneLine(text.slice(0, most)).replace(LOGIN, '://[redacted]@').trim();
  const safe = redactText(line, text.length > most);
  return safe.length > LONGEST ? `${safe.slice(0, LONGEST - 3)}...` : safe;
}

/**
 * An address for a message: without user, password, query and fragment, any of which may hold a secret. Null: not an HTTP or
 * WebSocket address.
 */
export function shownAddress(text: string, base?: string): string | null {
  const url = URL.canParse(text, base) ? new URL(text, base) : null;
  if (url === null || !/^(?:https?|wss?):$/.test(url.protocol)) return null;
  return ownLine(`${url.protocol}//${url.host}${url.pathname}`);
}
