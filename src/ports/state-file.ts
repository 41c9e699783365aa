/** The content of a state file when the program began. */
export type StateFound =
  | { readonly kind: 'none' }
  | { readonly kind: 'text'; readonly text: string }
  /** The file exists, but cannot be read. */
  | { readonly kind: 'unreadable'; readonly why: string };

export type StateReading =
  | StateFound
  /**
   * The content is still being read, and may never arrive. If it does, the program's own state is at least as new.
   * @property isOverdue the wait for the content has timed out
   */
  | {
      readonly kind: 'awaited';
      readonly isOverdue: boolean;
      /** Calls back once, when the disk delivers; perhaps never. */
      whenFound(callback: (found: StateFound) => void): void;
    };

/** A small file that outlives the program: a write replaces the whole content atomically. */
export interface StateFile {
  /** The file's path. */
  readonly name: string;
  /** The content when the program began. Never waits for the disk. */
  read(): StateReading;
  /**
   * Resolves when the text is safe from a power cut, or with the reason why not. Never rejects. One write at a time. A file that has
   * not been read is not overwritten.
   */
  write(text: string): Promise<{ readonly ok: true } | { readonly ok: false; readonly message: string }>;
  /** The content cannot be used here: the next write moves it aside, for a program that can read it. */
  putAside?(): void;
}
