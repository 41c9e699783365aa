import { shortId } from '../protocol/short-id.ts';
import { REDACTED } from './redaction.ts';

export { shortId } from '../protocol/short-id.ts';

/**
 * Removes secrets that this program knows, in any form, from texts of peers. A peer that received a secret from us, or gave it to
 * us, may quote it.
 */
export interface KnownSecrets {
  addToken(token: string): void;
  /** Hides a session's id, except for the part that reports show. */
  addSession(id: string): void;
  /** The text without the known secrets, also when it was cut in the middle of one. */
  hide(text: string): string;
}

interface Known {
  readonly secret: string;
  /** The replacement. */
  readonly shown: string;
  readonly anywhere: RegExp;
}

/** Shortest secret (characters): replacing a shorter one would destroy words. */
const LEAST_CHARS = 6;

/** @param most number of secrets to keep; older ones are forgotten */
export function createKnownSecrets(most: number): KnownSecrets {
  let known: readonly Known[] = [];
  /** Longest first: a longer secret may begin with a shorter one. */
  let byLength: readonly Known[] = [];
  const add = (secret: string, shown: string): void => {
    if (secret.length < LEAST_CHARS) return;
    const others = known.filter((one) => one.secret !== secret);
    known = [...others, { secret, shown, anywhere: patternOf(secret) }].slice(-most);
    byLength = known.toSorted((a, b) => b.secret.length - a.secret.length);
  };
  return {
    addToken: (token) => add(token, REDACTED),
    addSession: (id) => add(id, shortId(id)),
    // Complete secrets go first, so that none is taken for the beginning of another.
    hide: (text) => byLength.reduce(withoutBegin, byLength.reduce(withoutWhole, text)),
  };
}

/** The text without any of these secrets, and without the beginning of one. */
export function hideAll(text: string, secrets: readonly string[]): string {
  const known = createKnownSecrets(secrets.length);
  for (const secret of secrets) known.addToken(secret);
  return known.hide(text);
}

/** Longest pattern (characters). For a longer secret only its beginning is matched, and its whole length removed. */
const LONGEST_PATTERN = 1024;

/** Matches either case, because some services change the case of ids, and the form in an address. */
function patternOf(secret: string): RegExp {
  // A lone surrogate cannot be percent-encoded.
  const inAddress = /\p{Cs}/u.test(secret) ? secret : encodeURIComponent(secret);
  const forms = [...new Set([secret, inAddress])];
  return new RegExp(forms.map(formPattern).join('|'), 'gi');
}

function formPattern(form: string): string {
  const begin = form.slice(0, LONGEST_PATTERN).replaceAll(/[^\w]/g, '\\$&');
  const rest = form.length - LONGEST_PATTERN;
  return rest > 0 ? `${begin}[^]{0,${rest}}` : begin;
}

function withoutWhole(text: string, { shown, anywhere }: Known): string {
  return text.replace(anywhere, () => shown);
}

/** A text that was cut may end with the beginning of a secret. Hides that when it is longer than what may be shown. */
function withoutBegin(text: string, { secret, shown }: Known): string {
  const least = shown === REDACTED ? LEAST_CHARS : Math.max(LEAST_CHARS, shown.length - '...'.length + 1);
  const at = text.lastIndexOf(secret.slice(0, least));
  return at >= 0 && secret.startsWith(text.slice(at)) ? text.slice(0, at) + shown : text;
}
