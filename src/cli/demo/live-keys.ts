/** The part of standard input that key handling needs; a `tty.ReadStream` implements it. */
export interface KeySource {
  readonly isTTY?: boolean;
  setRawMode?(isRaw: boolean): unknown;
  on(event: 'data', listener: (keys: Uint8Array | string) => void): unknown;
  off(event: 'data', listener: (keys: Uint8Array | string) => void): unknown;
  resume(): unknown;
  pause(): unknown;
}

export type KeySignal = 'SIGINT' | 'SIGTSTP' | 'SIGQUIT';

/** Signals of Ctrl-C, Ctrl-Z and Ctrl-\, as a terminal raises them in line mode. */
const SIGNALS: ReadonlyMap<number, KeySignal> = new Map([
  [0x03, 'SIGINT'],
  [0x1a, 'SIGTSTP'],
  [0x1c, 'SIGQUIT'],
]);

/**
 * Prevents the echo of keys, because one Enter would shift the picture. Signal keys still raise their signals. Does nothing
 * without a terminal. Returns a function that ends this; it may be called more than once.
 */
export function holdKeys(input: KeySource, raise: (signal: KeySignal) => void): () => void {
  if (input.isTTY !== true || input.setRawMode === undefined) return () => {};
  const onKeys = (keys: Uint8Array | string): void => {
    for (const code of Buffer.from(keys)) {
      const signal = SIGNALS.get(code);
      if (signal !== undefined) raise(signal);
    }
  };
  input.setRawMode(true);
  input.on('data', onKeys);
  input.resume();
  let isHeld = true;
  return () => {
    if (!isHeld) return;
    isHeld = false;
    input.off('data', onKeys);
    input.pause();
    input.setRawMode?.(false);
  };
}
