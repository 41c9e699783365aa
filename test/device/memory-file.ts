import type { StateFile, StateFound } from '../../src/ports/state-file.ts';

/** A state file in memory; the test makes its disk slow, full or hanging. */
export function createMemoryFile() {
  let text: string | null = null;
  let aside: string | null = null;
  let problem: string | null = null;
  let held: (() => void)[] | null = null;
  const writes: string[] = [];
  let unreadable: string | null = null;
  let bring: ((found: StateFound) => void) | null = null;
  let isAwaited = false;
  const found = (): StateFound => {
    if (unreadable !== null) return { kind: 'unreadable', why: unreadable };
    return text === null ? { kind: 'none' } : { kind: 'text', text };
  };
  const file: StateFile = {
    name: 'state/memory.json',
    read() {
      if (!isAwaited) return found();
      const whenFound = (callback: (late: StateFound) => void): void => {
        bring = callback;
      };
      return { kind: 'awaited', isOverdue: true, whenFound };
    },
    async write(next) {
      if (isAwaited) return { ok: false, message: 'the file state/memory.json has not been read yet' };
      writes.push(next);
      const holding = held;
      if (holding !== null) await new Promise<void>((resolve) => void holding.push(resolve));
      if (problem !== null) return { ok: false, message: problem };
      text = next;
      return { ok: true };
    },
    putAside() {
      aside = text;
    },
  };
  return {
    file,
    writes,
    get text() {
      return text;
    },
    /** Left beside it, because the program cannot use it. */
    get aside() {
      return aside;
    },
    fill: (next: string) => {
      text = next;
    },
    fail: (why: string | null) => {
      problem = why;
    },
    /** The file exists, and cannot be read. */
    spoil: (why: string) => {
      unreadable = why;
    },
    /** The disk has timed out: it delivers the content when the test says so. */
    delay: () => {
      isAwaited = true;
    },
    bring() {
      isAwaited = false;
      bring?.(found());
    },
    /** Writes hang until they are released. */
    hang() {
      held = [];
    },
    letGo() {
      for (const resolve of held ?? []) resolve();
      held = null;
    },
  };
}
