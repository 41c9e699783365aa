/** Polls until `check` returns a true value. Only a failure reaches the generous limit. */
export async function until<T>(check: () => T, what = 'the condition', withinMs = 60_000): Promise<T> {
  const end = performance.now() + withinMs;
  for (;;) {
    const found = check();
    if (found) return found;
    if (performance.now() > end) throw new Error(`timeout after ${withinMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
