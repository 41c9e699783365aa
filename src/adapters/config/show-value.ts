/** Values of keys like these, and texts with words like these, are never shown. */
const SECRET = /pass|secret|token|key|credential|auth/i;
const LONGEST_SHOWN = 60;

/** A value for a message, or null when it must not be shown. */
export function showValue(value: unknown, path: readonly PropertyKey[]): string | null {
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = JSON.stringify(value);
  const mayBeSecret =
    path.some((step) => SECRET.test(String(step))) || SECRET.test(text) || text.includes('@');
  return mayBeSecret || text.length > LONGEST_SHOWN ? null : text;
}
