import { describe, expect, it } from 'vitest';
import { createListener } from '../../src/cli/devices/listener.ts';
import { judgeHearing, measureHearing } from '../../src/device/doctor/checks/capture/microphone-rules.ts';
import { createCaptureWatch } from '../../src/sound/capture-watch.ts';
import { addSums, clips, hasOffset, levelOf, NO_SOUND, sumUp } from '../../src/sound/sound-level.ts';
import { fc } from '../properties.ts';

const RATE_HZ = 16_000;
const bytes = (samples: Int16Array): Uint8Array => new Uint8Array(samples.buffer);

describe('the level of a sound', () => {
  it('is given in figures', () => {
    const level = levelOf(sumUp(Int16Array.of(0, 16_384, -16_384, 0)));
    expect(level).toMatchObject({ clippedShare: 0, offset: 0, isStill: false });
    expect(level.rmsDb).toBeCloseTo(-9.03, 2);
    expect(level.peakDb).toBeCloseTo(-6.02, 2);
    expect(levelOf(sumUp(Int16Array.of(-328, -328)))).toMatchObject({ isStill: true, offset: -328 / 32_768 });
    expect(levelOf(NO_SOUND)).toMatchObject({ rmsDb: -96, peakDb: -96, isStill: false });
  });

  it('does not depend on how the sound is cut into pieces', () => {
    const sound = fc.int16Array({ minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(sound, fc.nat(300), (samples, cut) => {
        const parts = [samples.subarray(0, cut), samples.subarray(cut)].map((part) => sumUp(part.slice()));
        expect(parts.reduce(addSums, NO_SOUND)).toEqual(sumUp(samples));
      }),
    );
  });
});

/** Ten seconds of a hum with this share clipped, or with this DC offset. */
function hum(share: number, offset = 0): Uint8Array {
  const sound = Int16Array.from({ length: 11 * RATE_HZ }, (_, at) => {
    const isCut = at % 10_000 < share * 10_000;
    return isCut ? 32_767 : Math.round(3000 * Math.sin(at / 7) + offset * 32_768);
  });
  return bytes(sound);
}

/** The verdicts of agent, doctor and meter about the same microphone. */
function verdicts(pcm: Uint8Array) {
  const watch = createCaptureWatch({ rateHz: RATE_HZ, playedRateHz: 24_000 });
  const found = watch.hear(pcm, 11_000).map(({ finding }) => finding);
  const pieces = [{ pcm, capturedAt: 11_000 }];
  const { finding } = judgeHearing(measureHearing(pieces, RATE_HZ), {
    device: 'it',
    isRecording: false,
    wasSilentBeforeTone: null,
  });
  const listener = createListener(RATE_HZ, { hear() {}, close() {} });
  listener.hear(pcm);
  return {
    clipping: [
      found.includes('clipping'),
      finding.includes('clipped'),
      clips(listener.take().clippedShare) === true,
    ],
    offset: [found.includes('dc_offset'), finding.includes('offset')],
  };
}

describe('a fault of the level', () => {
  it.each([
    [0, false],
    [0.002, false],
    [0.0035, true],
    [0.5, true],
  ])('is clipping for agent, doctor and meter alike when %s of it is clipped: %s', (share, is) => {
    expect(verdicts(hum(share)).clipping).toEqual([is, is, is]);
  });

  it.each([
    [0.01, false],
    [0.04, true],
    [-0.1, true],
  ])('is an offset for agent and doctor alike when the mean is %s: %s', (offset, is) => {
    expect(verdicts(hum(0, offset)).offset).toEqual([is, is]);
  });

  it('ends only well below the value at which it began', () => {
    expect([clips(0.0031), clips(0.001), clips(0.0001)]).toEqual([true, null, false]);
    expect([hasOffset(-0.04), hasOffset(-0.02), hasOffset(0.01)]).toEqual([true, null, false]);
  });
});
