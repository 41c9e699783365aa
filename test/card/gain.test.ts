import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { keepCaptureGain, LOOK_MS } from '../../src/adapters/audio/alsa/capture-gain.ts';
import { createCapture } from '../../src/adapters/audio/drivers/driver.ts';
import { createSystemClock } from '../../src/adapters/clock.ts';
import type { GainChange } from '../../src/core/mixer/capture-gain-rules.ts';
import type { Log } from '../../src/ports/log.ts';
import { needs } from '../needs.ts';
import { createVirtualClock } from '../virtual-clock.ts';
import { LOUDEST, openRack } from './card.ts';
import { RATE_HZ, until } from './card-lane.ts';
import { babble } from './sound.ts';

const { rack, missing } = await openRack();
rack?.use();
afterAll(() => rack?.close());

const QUIET: Log = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };
const title = `the gain of a virtual card's microphone${missing === null ? '' : `: skipped, ${missing}`}`;
const HALF = LOUDEST / 2;

describe(title, needs(missing), () => {
  it('is set at the first sound, after a change by others, and on a card that returns', async () => {
    const card = await rack?.insert({
      id: 'Gained',
      capture: { control: { name: 'Mic', volume: 5, on: false } },
    });
    if (card === undefined) throw new Error('the virtual cards are missing');
    const clock = createVirtualClock();
    const news: GainChange[] = [];
    const gain = keepCaptureGain(card.device, 50, { clock, log: QUIET }, (one) => news.push(one));
    const stands = (): boolean => card.capture.knob()?.volume === HALF && card.capture.knob()?.on === true;
    gain.sounds();
    await until('half', () => stands() && clock.armed === 1);
    card.capture.turn({ volume: 60 });
    clock.advance(LOOK_MS + 5000);
    await until('half gain again', () => stands() && clock.armed === 1);
    expect(news).toMatchObject([{ present: true }]);
    expect(news[0]?.message).toMatch(/'Mic' went from 50 % to 94 %; setting it back to 50 %/);
    // The card returns with its default gain.
    card.capture.control('unplug');
    gain.forget();
    card.capture.turn({ volume: 9, on: false });
    clock.advance(LOOK_MS + 5000);
    await until('a look', () => clock.armed === 1);
    card.capture.control();
    gain.sounds();
    await until('half gain on the returned card', stands);
    expect(news).toHaveLength(1);
    gain.close();
  });

  it('is set by the driver of a lane', async () => {
    const sound = babble(20 * RATE_HZ, 4);
    const card = await rack?.insert({
      id: 'Wanted',
      capture: { sound, control: { name: 'Capture', volume: 3 } },
    });
    if (card === undefined) throw new Error('the virtual cards are missing');
    const config = { driver: 'alsa', device: card.device, gain: 50, sampleRate: RATE_HZ } as const;
    const capture = await createCapture(config, createSystemClock())({ frames() {}, ended() {}, fault() {} });
    await until('half', () => card.capture.knob()?.volume === HALF);
    await capture.close();
  });
});

describe('the automatic gain of a card', () => {
  it('is turned off', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'dragoman-agc-'));
    const path = process.env['PATH'];
    const told = join(folder, 'told');
    const contents = `Simple mixer control 'Mic',0
  Capabilities: cvolume cswitch
  Mono: Capture 21 [60%] [8.00dB] [on]
Simple mixer control 'Auto Gain Control',0
  Capabilities: pswitch
  Mono: Playback [on]
`;
    writeFileSync(join(folder, 'contents'), contents);
    const script = `#!/bin/sh\ncase "$*" in\n*scontents) cat ${folder}/contents ;;\n*) echo "$*" >> ${told} ;;\nesac\n`;
    writeFileSync(join(folder, 'amixer'), script);
    chmodSync(join(folder, 'amixer'), 0o755);
    process.env['PATH'] = `${folder}:${path}`;
    try {
      const clock = createVirtualClock();
      const gain = keepCaptureGain('plughw:CARD=Usb', 60, { clock, log: QUIET }, () => {});
      gain.sounds();
      await until('orders', () => existsSync(told) && clock.armed === 1);
      expect(readFileSync(told, 'utf8').trim().split('\n')).toEqual([
        '-q -D hw:CARD=Usb sset Auto Gain Control off',
        '-q -D hw:CARD=Usb sset Mic capture 60% cap',
      ]);
      gain.close();
    } finally {
      process.env['PATH'] = path;
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
