import { describe, expect, it } from 'vitest';
import {
  type HearingFacts,
  isRateDoubtful,
  judgeHearing,
  measureHearing,
} from '../../../../../src/device/doctor/checks/capture/microphone-rules.ts';

const pcm = (...samples: number[]): Uint8Array => new Uint8Array(new Int16Array(samples).buffer);

describe('the sound of a microphone', () => {
  it('is measured sample by sample', () => {
    const facts = measureHearing([{ pcm: pcm(0, 32_767, -32_768, 0), capturedAt: 5 }], 1000);
    expect(facts).toMatchObject({ recordedMs: 4, clipped: 0.5, zero: 0.5, peakDb: 0, measuredHz: null });
    expect(measureHearing([], 1000)).toMatchObject({ recordedMs: 0, rmsDb: -96, peakDb: -96, clipped: 0 });
  });

  it('is timed by all pieces, so that one late piece does not matter', () => {
    const pieces = Array.from({ length: 25 }, (_, index) => ({
      pcm: new Uint8Array(3840),
      capturedAt: 1000 + (index + 1) * 80 + (index === 12 ? 40 : 0),
    }));
    const { measuredHz } = measureHearing(pieces, 24_000);
    expect(Math.abs((measuredHz ?? 0) / 24_000 - 1)).toBeLessThan(0.005);
    const once = pieces.map((piece) => ({ ...piece, capturedAt: 7 }));
    expect(measureHearing(once, 24_000).measuredHz).toBeNull();
  });

  it('is timed by the prompt pieces when a busy machine took several pieces late', () => {
    const late = new Map([
      [0, 280],
      [1, 200],
      [2, 120],
      [9, 150],
      [17, 60],
    ]);
    for (const count of [19, 300]) {
      const pieces = Array.from({ length: count }, (_, index) => ({
        pcm: new Uint8Array(15_360),
        capturedAt: 1000 + index * 320 + (late.get(index) ?? 0),
      }));
      expect(Math.round(measureHearing(pieces, 24_000).measuredHz ?? 0)).toBe(24_000);
    }
  });

  const WELL: HearingFacts = {
    rateHz: 24_000,
    measuredHz: 24_003,
    recordedMs: 2000,
    rmsDb: -40,
    peakDb: -20,
    clipped: 0,
    zero: 0.01,
    offset: 0.001,
    speechDb: null,
  };
  it.each<[Partial<HearingFacts>, string, RegExp]>([
    [{}, 'ok', /Mic: level -40 dB, peak -20 dB, 24003 samples\/s/],
    [{ measuredHz: null }, 'ok', /24000 samples\/s/],
    [{ measuredHz: 24_110 }, 'ok', /24110/],
    [{ measuredHz: 24_130 }, 'warning', /24130 samples\/s instead of 24000 \(\+0\.5 %\)/],
    [{ measuredHz: 22_000 }, 'problem', /\(-8\.3 %\)/],
    [{ recordedMs: 100 }, 'problem', /delivers nothing/],
    [{ zero: 1, rmsDb: -96, peakDb: -96 }, 'problem', /digital silence/],
    [{ clipped: 0.02 }, 'warning', /2\.0 % of the sound is clipped/],
    [{ speechDb: -26 }, 'ok', /level -40 dB/],
    [{ speechDb: -45 }, 'warning', /speech is soft at -45 dB/],
    [{ speechDb: -10, peakDb: -1 }, 'warning', /speech is loud at -10 dB/],
    [{ offset: -0.08 }, 'warning', /offset of -8 %/],
    [{ rmsDb: -80 }, 'warning', /nearly silent/],
  ])('%j', (more, verdict, words) => {
    const facts = { ...WELL, ...more };
    expect(
      judgeHearing(facts, { device: 'Mic', isRecording: false, wasSilentBeforeTone: null }),
    ).toMatchObject({
      verdict,
      finding: expect.stringMatching(words),
    });
    expect(isRateDoubtful(facts)).toBe(more.measuredHz === 24_130 || more.measuredHz === 22_000);
  });

  it('may be silence when it is a recording', () => {
    const silent = { ...WELL, zero: 1, rmsDb: -96, peakDb: -96 };
    expect(
      judgeHearing(silent, { device: 'in.wav', isRecording: true, wasSilentBeforeTone: null }),
    ).toMatchObject({
      verdict: 'ok',
      finding: expect.stringContaining('silence'),
    });
  });
});
