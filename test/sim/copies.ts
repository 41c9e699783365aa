import { afterEach, expect, it, vi } from 'vitest';
import type { LaneState } from '../../src/device/lane/state/lane-state.ts';
import { StepContext } from '../../src/device/lane/state/step-context.ts';
import { runSeed } from './run-seed.ts';

/** Runs a world. @returns each step's event, effects and counts, as text */
async function stepsOf(seed: number, hours: number): Promise<readonly string[]> {
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

/** Makes each change copy the state: slower, but no state changes after it was read. */
function copyAlways(): void {
  vi.spyOn(StepContext.prototype, 'set').mockImplementation(function (
    this: StepContext,
    changes: Partial<LaneState>,
  ) {
    Reflect.set(this, 'draft', { ...this.state, ...changes });
  });
}

/** Compares steps that change their draft in place with steps that copy it. */
export function testCopies(worlds: readonly (readonly [seed: number, hours: number])[]): void {
  afterEach(() => void vi.restoreAllMocks());

  it.each(worlds)('has the same result as copying at each change: seed %i, %d h', async (seed, hours) => {
    const first = await stepsOf(seed, hours);
    copyAlways();
    expect(await stepsOf(seed, hours)).toEqual(first);
    expect(first.length).toBeGreaterThan(500);
  });
}
