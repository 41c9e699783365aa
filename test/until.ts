/** Polls until `check` gives something true; the bound is generous and only met by a failure. */
export async function until<T>(check: () => T, what = 'the condition', withinMs = 60_000): Promise<T> {
  const end = performance.now() + withinMs;
  for (;;) {
    const found = check();
    if (found) return found;
    if (performance.now() > end) throw new Error(`waited ${withinMs} ms in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
