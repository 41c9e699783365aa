import { expect, it } from 'vitest';
import { flush } from '../../../src/device/playout/playout.ts';
import { fc } from '../../properties.ts';
import { readTags } from '../lane/sound.ts';
import { FORMAT, PlayoutHarness } from './playout-harness.ts';

/** @param numRuns number of drawn inputs */
export function testAnyInput(numRuns: number): void {
  const deed = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        key: fc.constantFrom('a', 'b', 'c', 'd'),
        ms: fc.constantFrom(0, 1, 20, 200, 200, 3000, 30_000),
        complete: fc.boolean(),
      }),
    },
    { weight: 3, arbitrary: fc.integer({ min: 0, max: 3000 }) },
    { weight: 1, arbitrary: fc.constant('flush' as const) },
  );

  it('every byte is written once, dropped or waiting; sentences stay in order inside', () => {
    fc.assert(
      fc.property(fc.array(deed, { maxLength: 60 }), (deeds) => {
        const playout = new PlayoutHarness();
        let arrived = 0;
        for (const what of deeds) {
          if (what === 'flush') playout.playout = flush(playout.playout, playout.now);
          else if (typeof what === 'number') playout.pass(what);
          else {
            playout.arrive(what.key, what.ms, what.complete);
            arrived += what.ms * FORMAT.bytesPerMs;
          }
          const { queuedBytes, writtenBytes, droppedBytes } = playout.playout;
          expect(queuedBytes + writtenBytes + droppedBytes).toBe(arrived);
          expect(queuedBytes).toBeLessThanOrEqual(60_000 * FORMAT.bytesPerMs);
        }
        expect(playout.writtenMs * FORMAT.bytesPerMs).toBe(playout.playout.writtenBytes);
        const last = new Map<number, number>();
        for (const { sentence, word } of playout.writes.flatMap(({ pcm }) => readTags(pcm))) {
          if (word <= (last.get(sentence) ?? -1)) throw new Error(`word ${word} of ${sentence} came again`);
          last.set(sentence, word);
        }
        playout.pass(70_000);
        expect(playout.playout.queuedBytes).toBe(0);
      }),
      { numRuns },
    );
  });
}
