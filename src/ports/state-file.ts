/** What a state file held when the program began. */
export type StateFound =
  | { readonly kind: 'none' }
  | { readonly kind: 'text'; readonly text: string }
  /** There is one, and why nobody knows what it holds. */
  | { readonly kind: 'unreadable'; readonly why: string };

export type StateReading =
  | StateFound
  /**
   * The disk has not brought it yet. What it brings later, where it ever does, is no newer than anything that is known then.
   * @property isOverdue it was waited for in vain
   */
  | {
      readonly kind: 'awaited';
      readonly isOverdue: boolean;
      /** Calls back once, later, if ever. */
      whenFound(callback: (found: StateFound) => void): void;
    };

/** A small file that outlives the program: what is written replaces what was there, whole or not at all. */
export interface StateFile {
  /** Its path. */
  readonly name: string;
  /** What it held when the program began. Never waits for the disk. */
  read(): StateReading;
  /**
   * Resolves, never rejects, when the text is safe from a power cut, or with why it is not. One write at a time. What has not
   * been read is not written over.
   */
  write(text: string): Promise<{ readonly ok: true } | { readonly ok: false; readonly message: string }>;
}
