import type { WallMs } from '../protocol/common/time.ts';

/**
 * `Retry-After` of an answer, in milliseconds. It holds seconds or a date. A date is compared with the server's clock (`Date`),
 * because this machine's may be wrong, or with our clock if that header is missing.
 * @param wall null: not known
 */
export function readRetryAfter(
  headers: { readonly 'retry-after'?: string | undefined; readonly date?: string | undefined },
  wall: WallMs | null,
): number | null {
  const { 'retry-after': header, date } = headers;
  if (header === undefined) return null;
  const theirs = Date.parse(date ?? '');
  const now = Number.isNaN(theirs) ? (wall ?? Number.NaN) : theirs;
  // An HTTP date begins with the day of the week; the parser alone would accept almost anything.
  const until = /^[A-Za-z]{3,9},? /.test(header) ? Date.parse(header) : Number.NaN;
  const ms = /^\s*\d+\s*$/.test(header) ? Number(header) * 1000 : until - now;
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}
