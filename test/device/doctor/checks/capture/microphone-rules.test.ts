import { describe, expect, it } from 'vitest';
import {
  type HearingFacts,
  isRateDoubtful,
  judgeHearing,
  measureHearing,
} from '../../../../../src/device/doctor/checks/capture/microphone-rules.ts';
import {
  judgeCaptureFindings,
  judgeRunningPlayback,
} from '../../../../../src/device/doctor/checks/capture/running-capture-rules.ts';
import {
  adviceOn,
  type EchoFacts,
  judgeEcho,
} from '../../../../../src/device/doctor/checks/playback/loudspeaker-rules.ts';
import { NO_ECHO } from '../../../../../src/sound/echo-guard.ts';

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

  it('is also judged by the findings of a running lane', () => {
    const lost = judgeCaptureFindings('Mic', ['silent', 'deaf']);
    expect(lost.map(({ verdict }) => verdict)).toEqual(['problem', 'problem']);
    const bad = ['too_fast', 'too_slow', 'clipping', 'dc_offset', 'gain_changed', 'noisy_room'] as const;
    const poor = judgeCaptureFindings('Mic', bad);
    expect(new Set(poor.map(({ verdict }) => verdict))).toEqual(new Set(['warning']));
    expect([...lost, ...poor].every(({ finding, fix }) => /^Mic:? /.test(finding) && fix !== null)).toBe(
      true,
    );
    expect(poor.at(-1)).toMatchObject({
      finding: expect.stringContaining('keeps waking the lane from standby'),
      fix: expect.stringContaining('directional'),
    });
  });
});

describe('the echo path from loudspeaker to microphone', () => {
  const judge = (more: Partial<EchoFacts>, delayMs = 60, gainDb = -15) =>
    judgeEcho({
      device: 'Speaker',
      mode: 'half-duplex',
      volume: 80,
      heard: { delayMs, gainDb, snrDb: 30 },
      ...more,
    });
  it("decides whether the lane's mode suits", () => {
    expect(judge({})).toMatchObject({
      verdict: 'ok',
      finding: 'Speaker: tone heard back after 60 ms at -15 dB; echo "half-duplex" suits',
      data: { tail_ms: 360, advice: 'cancel' },
    });
    expect(judge({}, 60, 4).finding).toContain('at +4 dB');
    expect(judge({}, 700)).toMatchObject({ verdict: 'warning', finding: expect.stringContaining('1000 ms') });
    expect(judge({ mode: 'off' }).verdict).toBe('warning');
    expect(judge({ mode: 'off' }, 60, -45).verdict).toBe('ok');
    expect(judge({ mode: 'cancel' }).verdict).toBe('ok');
    expect(judge({ mode: 'cancel' }, 450)).toMatchObject({
      verdict: 'warning',
      fix: 'Set "echo" to "half-duplex".',
    });
    expect(judge({ mode: 'cancel' }, 60, 3)).toMatchObject({
      verdict: 'warning',
      finding: expect.stringContaining('louder than what is played'),
    });
    expect(judge({ heard: null })).toMatchObject({ verdict: 'warning', data: { heard: false } });
    expect(judge({ volume: 0, heard: null })).toMatchObject({ finding: expect.stringContaining('volume') });
  });

  it('decides which mode is advised', () => {
    const advised = [
      [-50, 50],
      [-20, 50],
      [5, 50],
      [-20, 600],
    ].map(([gain = 0, delay = 0]) => adviceOn(gain, delay));
    expect(advised).toEqual(['off', 'cancel', 'half-duplex', 'half-duplex']);
  });

  it('is reported from the measurements of a running lane', () => {
    const how = { volume: 80, playedS: 12, hasAir: true };
    expect(judgeRunningPlayback('Speaker', how, NO_ECHO)).toMatchObject({
      verdict: 'ok',
      finding: 'Speaker is open, 12 s played since the start',
    });
    const measures = [{ delayMs: 42.4, gainDb: -17.8, confidence: 0.9, at: 5 }];
    expect(judgeRunningPlayback('Speaker', how, { ...NO_ECHO, measures }).finding).toContain(
      'heard back after 42 ms at -18 dB',
    );
    const file = judgeRunningPlayback('said.wav', { ...how, hasAir: false }, { ...NO_ECHO, measures });
    expect(file).toMatchObject({ verdict: 'ok', finding: expect.stringMatching(/a file has none$/) });
    expect(file.data).not.toHaveProperty('delay_ms');
    expect(judgeRunningPlayback('Speaker', { ...how, volume: 0 }, NO_ECHO).verdict).toBe('warning');
    const fallback = {
      reason: 'loop' as const,
      from: 'off' as const,
      message: 'it hears itself',
      tryAt: null,
      onTrial: false,
    };
    expect(judgeRunningPlayback('Speaker', how, { ...NO_ECHO, fallback })).toMatchObject({
      verdict: 'warning',
      finding: 'it hears itself',
      data: { fallback: 'loop' },
    });
  });
});
