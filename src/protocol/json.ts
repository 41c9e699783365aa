/** What a text says as JSON; undefined where it is none. Says nothing of what is in it: a schema has to. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
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
