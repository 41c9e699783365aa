import { describe, expect, it } from 'vitest';
import { expectNoEcho } from './spoken-tones.ts';
import { judge, makeTones, RATE_HZ, secondsOfSound } from './tones.ts';

const ms = (count: number): number => (count * RATE_HZ) / 1000;
const code = makeTones(20);

/** The tones without a part. */
const without = (from: number, to: number): Int16Array => {
  const rest = new Int16Array(code.length - (to - from));
  rest.set(code.subarray(0, from));
  rest.set(code.subarray(to), from);
  return rest;
};

describe('the judge of tones', () => {
  it('accepts whole sound with any start and loudness', () => {
    for (const [from, gain] of [
      [0, 1],
      [137, 0.5],
      [ms(95) + 11, 0.1],
    ] as const) {
      const found = judge(code.slice(from).map((sample) => sample * gain));
      expect(found).toMatchObject({
        missing: 0,
        outOfOrder: 0,
        silentMs: 0,
        phaseJumps: 0,
        unclearMs: 0,
        gap: { ms: 0 },
      });
      expect(found.tones.length).toBeGreaterThan(122);
      expect(found.levelDbfs).toBeCloseTo(-15.3 + 20 * Math.log10(gain), 0);
    }
  });

  it('counts silence within the sound, but not around it', () => {
    const padded = new Int16Array(code.length + ms(3000));
    padded.set(code, ms(1500));
    expect(judge(padded)).toMatchObject({ missing: 0, silentMs: 0, seconds: 20 });
    const holed = code.slice().fill(0, ms(5000), ms(5500));
    const found = judge(holed);
    expect(found.silentMs).toBeGreaterThanOrEqual(480);
    expect(found.tones).toContain(-1);
    expect(found.gap).toMatchObject({ before: 32, after: 91 });
    const late = new Int16Array(code.length + ms(200));
    late.set(code.subarray(0, ms(5050)));
    late.set(code.subarray(ms(5050)), ms(5250));
    expect(judge(late)).toMatchObject({ missing: 0, outOfOrder: 0 });
  });

  it('measures the sound to the sample when it has many gaps, which begin and end anywhere', () => {
    const pieces = Array.from({ length: 40 }, (_, at) => code.slice(at * ms(500), (at + 1) * ms(500)));
    const gapped = Int16Array.from(
      pieces.flatMap((piece, at) => [...new Int16Array(ms(25) + 7 * at), ...piece]),
    );
    expect(secondsOfSound(gapped)).toBeCloseTo(20, 2);
  });

  it.each([
    ['a chunk of 320 ms that is lost', () => without(ms(4000), ms(4320)), { missing: 2 }],
    ['20 samples that are lost within a tone', () => without(ms(4050), ms(4050) + 20), { phaseJumps: 1 }],
  ])('notices %s', (_, make, wanted) => {
    expect(judge(make())).toMatchObject(wanted);
  });

  it('detects repeated sound and sound that is not a tone', () => {
    const twice = new Int16Array(code.length);
    twice.set(code.subarray(0, ms(6000)));
    twice.set(code.subarray(ms(5680), code.length - ms(320)), ms(6000));
    expect(judge(twice)).toMatchObject({ outOfOrder: 1, disorder: ['after tone 37 tone 35, 80 ms'] });
    const noisy = code.map((sample, at) =>
      at > ms(2000) && at < ms(3000) ? (at * 7919 * at) % 9000 : sample,
    );
    expect(judge(noisy).unclearMs).toBeGreaterThan(800);
  });

  it.each([614, 635, 684, 705, 719, 740])(
    'takes no tone for an echo when it is played again %d ms later',
    (saidAfterMs) => {
      expectNoEcho([saidAfterMs]);
    },
  );
});
