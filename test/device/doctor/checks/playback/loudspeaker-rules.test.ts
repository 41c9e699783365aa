import { describe, expect, it } from 'vitest';
import {
  adviceOn,
  type EchoFacts,
  judgeEcho,
} from '../../../../../src/device/doctor/checks/playback/loudspeaker-rules.ts';

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
});
