/** What is needed of standard input; a `tty.ReadStream` is one. */
export interface KeySource {
  readonly isTTY?: boolean;
  setRawMode?(isRaw: boolean): unknown;
  on(event: 'data', listener: (keys: Uint8Array | string) => void): unknown;
  off(event: 'data', listener: (keys: Uint8Array | string) => void): unknown;
  resume(): unknown;
  pause(): unknown;
}

export type KeySignal = 'SIGINT' | 'SIGTSTP' | 'SIGQUIT';

/** Ctrl-C, Ctrl-Z, Ctrl-\: what a terminal itself makes of them while it reads whole lines. */
const SIGNALS: ReadonlyMap<number, KeySignal> = new Map([
  [0x03, 'SIGINT'],
  [0x1a, 'SIGTSTP'],
  [0x1c, 'SIGQUIT'],
]);

/**
 * Keeps keys from being echoed into a picture, where one Enter would shift it; the keys that are signals stay
 * signals. Does nothing where nobody types. Returns the release, which may be called more than once.
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
