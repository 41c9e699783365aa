import { expect, it } from 'vitest';
import { fc } from '../../properties.ts';
import { FORMAT, PlayoutHarness } from './playout-harness.ts';

const inMs = (bytes: number): number => bytes / FORMAT.bytesPerMs;

/** @param numRuns number of drawn inputs */
export function testAnySentences(numRuns: number): void {
  it('every byte is written once, dropped or waiting, within the limits, and sentences are dropped whole', () => {
    const deed = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          key: fc.constantFrom('a/1', 'b/1', 'c/1', 'd/2', 'e/2', 'f/3'),
          ms: fc.constantFrom(0, 200, 200, 1000, 5000),
          complete: fc.boolean(),
        }),
      },
      { weight: 3, arbitrary: fc.integer({ min: 0, max: 4000 }) },
      { weight: 1, arbitrary: fc.constantFrom('line', 'mute') },
    );
    fc.assert(
      fc.property(fc.array(deed, { maxLength: 80 }), fc.constantFrom(2000, 20_000), (deeds, lagMs) => {
        const playout = new PlayoutHarness({ lagMs });
        let arrived = 0;
        for (const what of deeds) {
          const { shed } = playout.playout;
          if (typeof what === 'number') playout.pass(what);
          else if (typeof what === 'string') playout.chime(what, 300);
          else {
            const begun = playout.playout.utterances.filter((one) => one.begun).map(({ key }) => key);
            playout.arrive(what.key, what.ms, what.complete);
            arrived += what.ms * FORMAT.bytesPerMs;
            // The current sentence is never dropped.
            const left = playout.playout.utterances.map(({ key }) => key);
            const over = playout.writes.length;
            for (const key of begun) expect(left.includes(key) || over > 0).toBe(true);
          }
          const { utterances, writtenBytes, droppedBytes, shed: after } = playout.playout;
          const waiting = utterances.filter(({ stream }) => stream !== 0);
          const bytes = waiting.reduce(
            (sum, { pieces }) => sum + pieces.reduce((all, { pcm }) => all + pcm.byteLength, 0),
            0,
          );
          expect(bytes + writtenBytes + droppedBytes).toBe(arrived);
          expect(after.bytes).toBeGreaterThanOrEqual(shed.bytes);
          expect(after.bytes).toBeLessThanOrEqual(droppedBytes);
          const between = waiting.filter((one) => !one.begun).slice(0, -1);
          const lag = between.reduce(
            (sum, { pieces }) => sum + pieces.reduce((all, { pcm }) => all + pcm.byteLength, 0),
            0,
          );
          expect(inMs(lag)).toBeLessThanOrEqual(lagMs);
        }
        playout.pass(80_000);
        expect(playout.playout.queuedBytes).toBe(0);
      }),
      { numRuns },
    );
  });
}
