/**
 * Canonical JSON by RFC 8785: no blanks, keys sorted by UTF-16 code units. Equal values give equal texts.
 * @returns null if the value is nested more deeply than `deepest`
 */
export function canonicalJson(value: unknown, deepest: number): string | null {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (deepest === 0) return null;
  const isList = Array.isArray(value);
  const parts: string[] = [];
  for (const key of isList ? value.keys() : Object.keys(value).sort()) {
    const part = canonicalJson((value as Record<string | number, unknown>)[key], deepest - 1);
    if (part === null) return null;
    parts.push(isList ? part : `${JSON.stringify(key)}:${part}`);
  }
  return isList ? `[${parts.join()}]` : `{${parts.join()}}`;
}
