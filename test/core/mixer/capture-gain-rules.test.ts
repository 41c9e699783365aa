import { describe, expect, it } from 'vitest';
import {
  type CaptureMixer,
  lookAtGain,
  NOTHING_KEPT,
  readCaptureMixer,
  settleGain,
} from '../../../src/core/mixer/capture-gain-rules.ts';

/** A usual USB microphone as printed by amixer 1.2.8. */
const USB = (percent: number, on: boolean, agc: boolean): string => `Simple mixer control 'Mic',0
  Capabilities: cvolume cvolume-joined cswitch cswitch-joined
  Capture channels: Mono
  Limits: Capture 0 - 35
  Mono: Capture 21 [${percent}%] [8.00dB] [${on ? 'on' : 'off'}]
Simple mixer control 'Auto Gain Control',0
  Capabilities: pswitch pswitch-joined
  Playback channels: Mono
  Mono: Playback [${agc ? 'on' : 'off'}]
`;

describe("a microphone's mixer", () => {
  it('has a control of its gain, and perhaps an automatic gain', () => {
    expect(readCaptureMixer(USB(60, true, true))).toEqual({
      name: 'Mic',
      percent: 60,
      on: true,
      automatic: [{ name: 'Auto Gain Control', side: 'playback' }],
    });
    expect(readCaptureMixer(USB(60, true, false))?.automatic).toEqual([]);
  });

  it('is null without a gain control', () => {
    expect(readCaptureMixer('')).toBeNull();
    expect(
      readCaptureMixer(
        "Simple mixer control 'Speaker',0\n  Capabilities: pvolume\n  Mono: Playback 3 [30%]\n",
      ),
    ).toBeNull();
    const two = ['Aux', 'Synth']
      .map((name) => `Simple mixer control '${name}',0\n  Capabilities: cvolume\n  Mono: Capture 3 [30%]\n`)
      .join('');
    // Which of them belongs to the microphone is unknown.
    expect(readCaptureMixer(two)).toBeNull();
  });
});

describe('a kept gain', () => {
  const at = (percent: number, more: Partial<CaptureMixer> = {}): CaptureMixer => ({
    name: 'Mic',
    percent,
    on: true,
    automatic: [],
    ...more,
  });

  it('is set at first, and kept at the value that the card made of it', () => {
    const first = lookAtGain(NOTHING_KEPT, at(20), 61);
    expect(first).toMatchObject({ set: true, news: null });
    // The card's steps are 3 % apart.
    const kept = settleGain(first.kept, at(60));
    expect(lookAtGain(kept, at(60), 61)).toMatchObject({ set: false, news: null });
    expect(lookAtGain(NOTHING_KEPT, at(61), 61).set).toBe(false);
  });

  it.each([
    [at(20), "'Mic' went from 60 % to 20 %"],
    [at(60, { on: false }), "'Mic' is switched off"],
    [at(60, { automatic: [{ name: 'AGC', side: 'capture' }] }), "'AGC' is on"],
  ])('is set back and reported once when another program changes it: %j', (turned, words) => {
    const first = lookAtGain({ ...NOTHING_KEPT, made: 60 }, turned, 60);
    expect(first).toMatchObject({ set: true, news: { present: true } });
    expect(first.news?.message).toContain(words);
    const again = lookAtGain(settleGain(first.kept, at(60)), turned, 60);
    expect(again).toMatchObject({ set: true, news: null });
    let { kept } = again;
    const news: unknown[] = [];
    for (let look = 0; look < 20; look++) {
      const calm = lookAtGain(kept, at(60), 60);
      kept = calm.kept;
      if (calm.news !== null) news.push(calm.news.present);
    }
    expect(news).toEqual([false]);
  });
});
