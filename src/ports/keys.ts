/** A key was pressed or released. Repeats while it is held are not reported. */
export interface KeyChange {
  /** The kernel's code for the key (src/protocol/key-names.ts). */
  readonly code: number;
  readonly isDown: boolean;
}

export interface KeyDeviceListener {
  changed(change: KeyChange): void;
  /** The device can be read, or can be read again. */
  opened(): void;
  /** The device cannot be read, and is retried. All its keys count as released. @param problem a sentence for people */
  lost(problem: string): void;
}

/** Reads an input device until `close`, and reopens it whenever it returns. */
export type OpenKeyDevice = (path: string, listener: KeyDeviceListener) => { close(): void };
