/** Maximum nesting of JSON (levels). No real message is deeper, and deeper nesting could exhaust the stack. */
export const DEEPEST_JSON = 64;

export type JsonReading =
  | { readonly kind: 'json'; readonly value: unknown }
  /** Nested too deeply: only the keys of the top level may be read. */
  | { readonly kind: 'nested'; readonly value: unknown }
  | { readonly kind: 'none' };

/** Parses JSON; all JSON from outside passes here. Distinguishes too deep nesting from invalid JSON. */
export function readJson(text: string): JsonReading {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: 'none' };
  }
  return { kind: isDeeper(value, DEEPEST_JSON) ? 'nested' : 'json', value };
}

/** Parses JSON without validation; undefined if the text is invalid or nested too deeply. */
export function parseJson(text: string): unknown {
  const read = readJson(text);
  return read.kind === 'json' ? read.value : undefined;
}

/** Whether a value is nested more than `levels` deep. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  const inner: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  return inner.some((one) => isDeeper(one, levels - 1));
}

/** Whether a value is an object, neither a list nor null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The text under a key of an object; undefined if there is no text. */
export function textAt(value: unknown, key: string): string | undefined {
  const found = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return typeof found === 'string' ? found : undefined;
}
