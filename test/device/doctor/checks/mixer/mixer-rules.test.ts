import { describe, expect, it } from 'vitest';
import { parseMixer } from '../../../../../src/core/mixer/mixer-controls.ts';
import { judgeMixer } from '../../../../../src/device/doctor/checks/mixer/mixer-rules.ts';

const USB_HEADSET = `Simple mixer control 'Speaker',0
  Capabilities: pvolume pswitch pswitch-joined
  Playback channels: Front Left - Front Right
  Limits: Playback 0 - 37
  Mono:
  Front Left: Playback 26 [70%] [-11.00dB] [on]
  Front Right: Playback 20 [54%] [-17.00dB] [on]
Simple mixer control 'Mic',0
  Capabilities: pvolume pvolume-joined cvolume cvolume-joined pswitch pswitch-joined cswitch cswitch-joined
  Playback channels: Mono
  Capture channels: Mono
  Limits: Playback 0 - 31 Capture 0 - 35
  Mono: Playback 23 [74%] [34.36dB] [off] Capture 28 [80%] [0.00dB] [on]
Simple mixer control 'Auto Gain Control',0
  Capabilities: pswitch pswitch-joined
  Playback channels: Mono
  Mono: Playback [on]
Simple mixer control 'Input Source',0
  Capabilities: enum
  Items: 'Mic' 'Line'
  Item0: 'Mic'
`;
const ONBOARD = `Simple mixer control 'Weird Name',0
  Capabilities: volume volume-joined
  Playback channels: Mono
  Capture channels: Mono
  Limits: 0 - 15
  Mono: 3 [20%]
`;
const edit = (from: string | RegExp, to: string): string => USB_HEADSET.replace(from, to);
const playback = (text: string) =>
  judgeMixer(parseMixer(text), { direction: 'playback', control: 'hw:CARD=Head' });
const capture = (text: string) => judgeMixer(parseMixer(text), { direction: 'capture', control: 'default' });

describe('the mixer', () => {
  it('is parsed as printed by amixer', () => {
    expect(parseMixer(USB_HEADSET)).toEqual([
      { name: 'Speaker', playback: { percent: 70, on: true }, capture: null },
      { name: 'Mic', playback: { percent: 74, on: false }, capture: { percent: 80, on: true } },
      { name: 'Auto Gain Control', playback: { percent: null, on: true }, capture: null },
    ]);
    expect(parseMixer(ONBOARD)).toEqual([
      { name: 'Weird Name', playback: { percent: 20, on: null }, capture: { percent: 20, on: null } },
    ]);
    expect(parseMixer('')).toEqual([]);
  });

  it('is ok when the main controls are on and up; a sidetone that is off does not matter', () => {
    expect(playback(USB_HEADSET)).toMatchObject({
      verdict: 'ok',
      finding: "card Head, playback: 'Speaker' 70 %",
    });
    expect(capture(USB_HEADSET)).toMatchObject({
      verdict: 'ok',
      finding: "the default card, capture: 'Mic' 80 %",
    });
    expect(playback(ONBOARD).verdict).toBe('ok');
  });

  it('is a problem when it is off or at zero', () => {
    expect(playback(edit(/\[on\]/g, '[off]'))).toMatchObject({
      verdict: 'problem',
      finding: "the loudspeaker is switched off: 'Speaker' of card Head",
      fix: expect.stringContaining("amixer -D hw:CARD=Head sset 'Speaker' unmute; keep it"),
    });
    expect(capture(edit('Capture 28 [80%] [0.00dB] [on]', 'Capture 28 [80%] [0.00dB] [off]'))).toMatchObject({
      verdict: 'problem',
      fix: expect.stringContaining("amixer -D default sset 'Mic' cap."),
    });
    expect(playback(edit('[70%]', '[0%]').replace('[54%]', '[0%]'))).toMatchObject({
      verdict: 'problem',
      finding: expect.stringContaining('turned down to 0'),
    });
    // One of two channels is enough to be heard.
    expect(playback(edit('[54%] [-17.00dB] [on]', '[0%] [-99.00dB] [off]')).verdict).toBe('ok');
  });

  it('is a warning when it is nearly off', () => {
    expect(playback(edit('[70%]', '[5%]').replace('[54%]', '[5%]'))).toMatchObject({
      verdict: 'warning',
      finding: expect.stringContaining('at 5 %'),
    });
  });

  it('is skipped when the card has no such control', () => {
    expect(capture(USB_HEADSET.split("Simple mixer control 'Mic'")[0] ?? '').verdict).toBe('skipped');
    const several = [1, 2].map((number) => ONBOARD.replace('Weird Name', `Odd ${number}`)).join('');
    expect(playback(several)).toMatchObject({ verdict: 'ok', finding: 'card Head: 2 controls for playback' });
  });
});
