/** How long this process has been kept from running since then, milliseconds: a busy machine makes everything later by as much. */
export function watchStalls(): { ms(): number } {
  const stepMs = 20;
  let dueAt = performance.now() + stepMs;
  let lost = 0;
  setInterval(() => {
    lost += Math.max(0, performance.now() - dueAt);
    dueAt = performance.now() + stepMs;
  }, stepMs).unref();
  // What it is kept from just now counts, too.
  return { ms: () => lost + Math.max(0, performance.now() - dueAt) };
}
