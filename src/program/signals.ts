/** Source of signals: the process, or a test. */
export interface EndSignals {
  once(signal: 'SIGTERM' | 'SIGINT', listener: () => void): unknown;
}

/** Resolves at the first SIGTERM or SIGINT. A second signal of the same kind kills the process. */
export function untilAskedToEnd(signals: EndSignals): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) signals.once(signal, () => resolve());
  });
}
