import { describe, expect, it } from 'vitest';
import { watchPacketSize } from '../../../src/adapters/mqtt/packet-size.ts';
import { fc } from '../../properties.ts';

const MOST = 20_000;

function packet(length: number): Buffer {
  const digits: number[] = [];
  let rest = length;
  do {
    const digit = rest % 128;
    rest = Math.floor(rest / 128);
    digits.push(rest > 0 ? digit + 128 : digit);
  } while (rest > 0);
  return Buffer.concat([Buffer.from([0x32, ...digits]), Buffer.alloc(length, 0xff)]);
}

function reportedSizes(bytes: Buffer, chunkBytes: number): number[] {
  const found: number[] = [];
  const watch = watchPacketSize(MOST, (size) => found.push(size));
  for (let at = 0; at < bytes.length; at += chunkBytes) watch(bytes.subarray(at, at + chunkBytes));
  return found;
}

describe('the size of packets', () => {
  it('is found in a row of packets, for any division of the bytes', () => {
    const lengths = fc.array(fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: MOST })), {
      maxLength: 8,
    });
    const large = fc.option(fc.integer({ min: MOST + 1, max: MOST * 2 }));
    void fc.assert(
      fc.property(lengths, large, fc.integer({ min: 1, max: 5000 }), (fine, over, chunkBytes) => {
        const row = [...fine, ...(over === null ? [] : [over]), 3, MOST + 9].map(packet);
        expect(reportedSizes(Buffer.concat(row), chunkBytes)).toEqual([over ?? MOST + 9]);
      }),
      { numRuns: 200 },
    );
  });

  it('is reported as soon as it is announced', () => {
    expect(reportedSizes(Buffer.from([0x30, 0xff, 0xff, 0xff, 0x7f]), 1)).toEqual([268_435_455]);
  });

  it('is left to the library when it is malformed', () => {
    expect(
      reportedSizes(Buffer.from([0x30, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x30, 0xff, 0xff, 0x7f]), 3),
    ).toEqual([]);
  });
});
