/** Running work that the program waits for at shutdown. */
export class PendingWork {
  private readonly pending = new Set<Promise<void>>();

  /** @param work must not reject */
  add(work: Promise<void>): void {
    const done = work.finally(() => this.pending.delete(done));
    this.pending.add(done);
  }

  /** Also waits for work that is added meanwhile. */
  async idle(): Promise<void> {
    while (this.pending.size > 0) await Promise.all(this.pending);
  }
}
