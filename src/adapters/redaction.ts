/**
 * The last line of defence: nothing that could open a stream or an account leaves the program as text.
 * The first is that no such thing is handed to a logger at all.
 */

export const REDACTED = '[redacted]';

/** Names whose values are never shown, as a key of an object or in `name=value`. */
const SECRET_NAME =
  '(?:[\\w-]*[_-])?(?:token|password|passwd|passphrase|authorization|publisher|subscriber_keys|secret|jwt|credentials?|api[_-]?key|private[_-]?key)';
const CAMEL_NAME = '[a-z]\\w*(?:Token|Password|Passphrase|Authorization|Publisher|Secret|Jwt|ApiKey)';
const KEY = new RegExp(`^(?:(?:${SECRET_NAME})|apikey|privatekey)$`, 'i');
const CAMEL_KEY = new RegExp(`^${CAMEL_NAME}$`);
const NAME = `(?:${SECRET_NAME}|apiKey|privateKey|${CAMEL_NAME})`;

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  // token=abc, also in the query of an address
  [new RegExp(`(\\b${NAME}=)[^&\\s"'#,;)]+`, 'gi'), `$1${REDACTED}`],
  // "token":"abc" and \"token\":\"abc\" inside a text
  [new RegExp(`(\\\\*["']${NAME}\\\\*["']\\s*:\\s*\\\\*["'])[^"'\\\\]+`, 'gi'), `$1${REDACTED}`],
  // Authorization: Bearer abc
  [/\b(Bearer|Basic)\s+[\w\-.~+/=]{6,}/gi, `$1 ${REDACTED}`],
  // Bare JSON web tokens
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, REDACTED],
  // mqtt://user:password@host
  [/(:\/\/)[^\s/@"']+@/g, `$1${REDACTED}@`],
];

/** A text without what looks like a secret. */
export function redactText(text: string): string {
  return PATTERNS.reduce((safe, [pattern, replacement]) => safe.replace(pattern, replacement), text);
}

/** A value as JSON knows it, without secrets at any depth. */
export function redactValue(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value);
  if (Array.isArray(value)) return value.map(redactValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, isSecretKey(key, part) ? REDACTED : redactValue(part)]),
  );
}

function isSecretKey(key: string, value: unknown): boolean {
  // Counters such as {"token": 3} and flags tell nothing.
  const canHoldSecret = typeof value === 'string' || (typeof value === 'object' && value !== null);
  return canHoldSecret && (KEY.test(key) || CAMEL_KEY.test(key));
}
