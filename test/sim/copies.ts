import { afterEach, expect, it, vi } from 'vitest';
import type { LaneState } from '../../src/core/lane/state.ts';
import { StepContext } from '../../src/core/lane/step-context.ts';
import { runSeed } from './run-seed.ts';

/** All that the lanes of a world do, with what they have counted. */
async function deeds(seed: number, hours: number): Promise<readonly string[]> {
  const lines: string[] = [];
  await runSeed(seed, hours, {
    observe({ event, effects, after }) {
      const { backlog, counts, loss } = after;
      const sizes = (_: string, value: unknown): unknown =>
        value instanceof Uint8Array ? value.byteLength : value;
      lines.push(JSON.stringify([event.type, effects, backlog.accounts, counts, loss], sizes));
    },
  });
  return lines;
}

/** A context that never writes to a state that it has given out: slower, and safe to compare with. */
function copyAlways(): void {
  vi.spyOn(StepContext.prototype, 'set').mockImplementation(function (
    this: StepContext,
    changes: Partial<LaneState>,
  ) {
    Reflect.set(this, 'draft', { ...this.state, ...changes });
  });
}

/** A step, which changes its draft in place, does as if each change made a copy. */
export function testCopies(worlds: readonly (readonly [seed: number, hours: number])[]): void {
  afterEach(() => void vi.restoreAllMocks());

  it.each(worlds)('does as if each change made a copy: seed %i, %d h', async (seed, hours) => {
    const first = await deeds(seed, hours);
    copyAlways();
    expect(await deeds(seed, hours)).toEqual(first);
    expect(first.length).toBeGreaterThan(500);
  });
}
