import { describe, expect, it } from 'vitest';
import { createPcmQueue } from '../../src/sound/pcm-queue.ts';
import { fc } from '../properties.ts';

describe('queued sound', () => {
  it('comes out in order, in pieces of any requested size', () => {
    const pieces = fc.array(fc.uint8Array({ maxLength: 9 }), { maxLength: 12 });
    const cuts = fc.array(fc.integer({ min: 0, max: 14 }), { maxLength: 12 });
    fc.assert(
      fc.property(pieces, cuts, (given, asked) => {
        const queue = createPcmQueue();
        for (const piece of given) queue.push(piece);
        const all = Buffer.concat(given);
        let at = 0;
        for (const bytes of asked) {
          const taken = queue.take(bytes);
          expect(taken.byteLength).toBe(Math.min(bytes, all.byteLength - at));
          expect(Buffer.from(taken)).toEqual(all.subarray(at, at + taken.byteLength));
          at += taken.byteLength;
          expect(queue.bytes).toBe(all.byteLength - at);
        }
      }),
    );
  });

  it('can be put back and cleared', () => {
    const queue = createPcmQueue();
    queue.push(Uint8Array.of(3, 4));
    queue.unshift(Uint8Array.of(1, 2));
    queue.unshift(new Uint8Array(0));
    expect([...queue.take(3)]).toEqual([1, 2, 3]);
    queue.clear();
    expect(queue.bytes).toBe(0);
    expect(queue.take(5).byteLength).toBe(0);
  });
});
