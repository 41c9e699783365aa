/** Where signals come from: the process, or a test. */
export interface EndSignals {
  once(signal: 'SIGTERM' | 'SIGINT', listener: () => void): unknown;
}

/** Resolves at the first signal that asks the program to end. A second one of its kind ends it the hard way. */
export function untilAskedToEnd(signals: EndSignals): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) signals.once(signal, () => resolve());
  });
}
