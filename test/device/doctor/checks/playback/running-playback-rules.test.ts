import { describe, expect, it } from 'vitest';
import { judgeRunningPlayback } from '../../../../../src/device/doctor/checks/playback/running-playback-rules.ts';
import { NO_ECHO } from '../../../../../src/sound/echo-guard.ts';

describe('the loudspeaker of a running lane', () => {
  it('is reported from the measurements of the lane', () => {
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
