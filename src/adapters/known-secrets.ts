import { REDACTED } from './redaction.ts';

/**
 * Secrets that this program knows, however they look, taken out of what somebody else says: whoever had one of them from us, or
 * gave it to us, may quote it.
 */
export interface KnownSecrets {
  addToken(token: string): void;
  /** The id of a session is shown as far as in reports. */
  addSession(id: string): void;
  /** A text without them, also where it was cut in the middle of one. */
  hide(text: string): string;
}

interface Known {
  readonly secret: string;
  /** What stands in its place. */
  readonly shown: string;
  readonly anywhere: RegExp;
}

/** What is shorter is no secret, and would take words apart. */
const LEAST_CHARS = 6;
const LONGEST_SHOWN = 8;

/** The beginning of a session's id: ids can look like tokens, and are never shown whole (docs/service.md 10.5). */
export function shortId(id: string): string {
  return `${id.slice(0, Math.min(LONGEST_SHOWN, Math.floor(id.length / 2)))}...`;
}

/** @param most of those added last are known */
export function createKnownSecrets(most: number): KnownSecrets {
  let known: readonly Known[] = [];
  /** The longest first: a longer one may begin as a shorter one does. */
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
    // What is there as a whole is not the beginning of another one.
    hide: (text) => byLength.reduce(withoutBegin, byLength.reduce(withoutWhole, text)),
  };
}

/** A text without any of these, in place of which nothing of them is shown. */
export function hideAll(text: string, secrets: readonly string[]): string {
  const known = createKnownSecrets(secrets.length);
  for (const secret of secrets) known.addToken(secret);
  return known.hide(text);
}

/** Of a longer one this much is looked for, and with it goes as much as it is long: patterns have a limit of their own. */
const LONGEST_PATTERN = 1024;

/** In either case, as the ids of some services are written; and as it stands in an address. */
function patternOf(secret: string): RegExp {
  // Half a character cannot stand in an address.
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

/** At the end of a text that was cut there may be the beginning of one: more of it than is shown anyway. */
function withoutBegin(text: string, { secret, shown }: Known): string {
  const least = shown === REDACTED ? LEAST_CHARS : Math.max(LEAST_CHARS, shown.length - '...'.length + 1);
  const at = text.lastIndexOf(secret.slice(0, least));
  return at >= 0 && secret.startsWith(text.slice(at)) ? text.slice(0, at) + shown : text;
}
