import type { StateFile } from '../../src/ports/state-file.ts';

/** A state file in memory, whose disk is slow, full or hanging as the test wants. */
export function createMemoryFile() {
  let text: string | null = null;
  let problem: string | null = null;
  let held: (() => void)[] | null = null;
  const writes: string[] = [];
  const file: StateFile = {
    read: () => text,
    async write(next) {
      writes.push(next);
      const holding = held;
      if (holding !== null) await new Promise<void>((resolve) => void holding.push(resolve));
      if (problem !== null) return { ok: false, message: problem };
      text = next;
      return { ok: true };
    },
  };
  return {
    file,
    writes,
    get text() {
      return text;
    },
    fill: (next: string) => {
      text = next;
    },
    fail: (why: string | null) => {
      problem = why;
    },
    /** Writes hang until they are let go. */
    hang() {
      held = [];
    },
    letGo() {
      for (const resolve of held ?? []) resolve();
      held = null;
    },
  };
}
