import { describe, expect, it } from 'vitest';
import { MOST_MEMORY_BYTES, watchMemory } from '../../../src/device/process/memory-watch.ts';
import type { Log } from '../../../src/ports/log.ts';
import { createVirtualClock } from '../../virtual-clock.ts';

describe('the memory watch of the agent', () => {
  it('warns once an hour while memory is too large, and reports the end', () => {
    const clock = createVirtualClock();
    const warnings: object[] = [];
    const changes: boolean[] = [];
    const log: Log = {
      trace() {},
      debug() {},
      info() {},
      warn: (fields) => void warnings.push(fields),
      error() {},
    };
    let bytes = MOST_MEMORY_BYTES;
    const end = watchMemory(
      () => bytes,
      clock,
      log,
      (isLarge) => void changes.push(isLarge),
    );
    clock.advance(600_000);
    expect(warnings).toEqual([]);
    bytes = 500 * 2 ** 20;
    clock.advance(7_300_000);
    expect(warnings).toHaveLength(3);
    expect(warnings[0]).toEqual({ rss_mb: 500, limit_mb: 440 });
    bytes = 100 * 2 ** 20;
    clock.advance(120_000);
    expect(changes).toEqual([true, false]);
    end();
    expect(clock.armed).toBe(0);
  });
});
