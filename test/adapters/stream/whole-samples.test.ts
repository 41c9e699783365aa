import { describe, expect, it } from 'vitest';
import { createWholeSamples } from '../../../src/adapters/stream/whole-samples.ts';
import { fc } from '../../properties.ts';

const clock = { now: () => 0 };
const bytes = (...values: number[]): Buffer => Buffer.from(values);

describe('sound that is cut within samples', () => {
  it('has the same samples for any cuts, and for any interleaved utterances', () => {
    const piece = fc.record({ of: fc.nat(7), length: fc.nat(7) });
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const samples = createWholeSamples(clock);
        const given = new Map<number, Buffer>();
        const taken = new Map<number, Buffer>();
        const add = (sum: Map<number, Buffer>, of: number, more: Buffer) =>
          sum.set(of, Buffer.concat([sum.get(of) ?? bytes(), more]));
        pieces.forEach(({ of, length }, at) => {
          const pcm = Buffer.from(Uint8Array.from({ length }, (_, byte) => at * 7 + byte));
          const whole = samples.take(pcm, `t${of}`, false);
          expect(whole.byteLength % 2).toBe(0);
          add(given, of, pcm);
          add(taken, of, whole);
        });
        for (const [of, all] of given)
          expect(taken.get(of)).toEqual(all.subarray(0, all.byteLength - (all.byteLength % 2)));
      }),
    );
  });

  it('leaves no byte after its end', () => {
    const samples = createWholeSamples(clock);
    expect(samples.take(bytes(1, 2, 3), 'a', false)).toEqual(bytes(1, 2));
    expect(samples.take(bytes(4, 5), 'a', true)).toEqual(bytes(3, 4));
    expect(samples.take(bytes(6, 7), 'a', false)).toEqual(bytes(6, 7));
  });

  it('leaves no byte to a later utterance with the same name, or without one', () => {
    let now = 0;
    const samples = createWholeSamples({ now: () => now });
    expect(samples.take(bytes(1, 2, 3), '', false)).toEqual(bytes(1, 2));
    now = 1001;
    expect(samples.take(bytes(4, 5), '', false)).toEqual(bytes(4, 5));
  });

  it('leaves no byte to another utterance', () => {
    const samples = createWholeSamples(clock);
    expect(samples.take(bytes(1), 'a', false)).toEqual(bytes());
    expect(samples.take(bytes(2, 3), 'b', false)).toEqual(bytes(2, 3));
  });

  it('drops the oldest leftover byte when there are too many utterances', () => {
    const samples = createWholeSamples(clock);
    for (let at = 0; at < 9; at++) samples.take(bytes(at), `t${at}`, false);
    expect(samples.take(bytes(9), 't0', true)).toEqual(bytes());
    expect(samples.take(bytes(9), 't1', true)).toEqual(bytes(1, 9));
  });

  it('is passed on unchanged when nothing is cut', () => {
    const pcm = bytes(1, 2, 3, 4);
    expect(createWholeSamples(clock).take(pcm, 'a', false).buffer).toBe(pcm.buffer);
  });
});
