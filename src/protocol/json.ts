/** Deeper than anything that is said to us. What is deeper still, a few kilobytes of brackets, exhausts the stack of whoever walks it. */
export const DEEPEST_JSON = 64;

export type JsonReading =
  | { readonly kind: 'json'; readonly value: unknown }
  /** Nested too deeply: nothing of it may be looked at but its own keys. */
  | { readonly kind: 'nested'; readonly value: unknown }
  | { readonly kind: 'none' };

/** The one door for JSON: reads a text, and tells what is nested too deeply apart from what is no JSON. */
export function readJson(text: string): JsonReading {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: 'none' };
  }
  return { kind: isDeeper(value, DEEPEST_JSON) ? 'nested' : 'json', value };
}

/**
 * What a text says as JSON; undefined where it is none, or nested too deeply. Says nothing of what is in it: a schema has to.
 */
export function parseJson(text: string): unknown {
  const read = readJson(text);
  return read.kind === 'json' ? read.value : undefined;
}

/** Whether a value holds more levels than these. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  const inner: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  return inner.some((one) => isDeeper(one, levels - 1));
}

/** Whether a value is an object with keys of its own: no list, not null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The text that an object holds under this key; undefined where it holds none. */
export function textAt(value: unknown, key: string): string | undefined {
  const found = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return typeof found === 'string' ? found : undefined;
}
