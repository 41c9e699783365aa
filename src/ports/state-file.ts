/** A small file that outlives the program: what is written replaces what was there, whole or not at all. */
export interface StateFile {
  /** What was written last; null where there is nothing, or nothing that can be read. */
  read(): string | null;
  /** Resolves, never rejects, when the text is safe from a power cut, or with why it is not. One write at a time. */
  write(text: string): Promise<{ readonly ok: true } | { readonly ok: false; readonly message: string }>;
}
