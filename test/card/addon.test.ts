import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { createAddonCapture, createAddonPlayback } from '../../src/adapters/audio/addon/driver.ts';
import { PACKAGES } from '../../src/adapters/audio/addon/wire.ts';
import { placeBundles } from '../bundles.ts';
import { needs } from '../needs.ts';
import { judgeSound, watchStalls } from '../stalls.ts';
import { openRack } from './card.ts';
import { clock, listen, RATE_HZ, soundedBy, speak, stallsWith, until } from './card-lane.ts';
import { babble, differsAt } from './sound.ts';

/** The folder in which the packages are installed, as docs/sound.md says. */
const PLACE = process.env['ADDON_PACKAGES'];
const MINUTE_S = 60;
/** Stall (ms) that empties the package's buffer. */
const LONG_STALL_MS = 200;

const { rack, missing: noCard } = await openRack();
const absent = Object.values(PACKAGES).filter((name) => !existsSync(join(PLACE ?? '', 'node_modules', name)));
const missing = noCard ?? (absent.length === 0 ? null : `ADDON_PACKAGES has no ${absent.join(' and no ')}`);
const folder = mkdtempSync(join(tmpdir(), 'dragoman-addon-'));
afterAll(async () => {
  delete process.env['ALSA_CONFIG_PATH'];
  rmSync(folder, { recursive: true, force: true });
  await rack?.close();
});

const title = `the addon driver with the real packages${missing === null ? '' : `: skipped, ${missing}`}`;

describe(title, needs(missing), () => {
  beforeAll(async () => {
    await placeBundles(folder);
    symlinkSync(join(PLACE ?? '', 'node_modules'), join(folder, 'node_modules'));
  });

  it('captures and plays a minute', async ({ expect, annotate, skip }) => {
    if (rack === null) throw new Error('there is no card');
    const stalls = watchStalls();
    const sound = babble((MINUTE_S + 20) * RATE_HZ, 1);
    const card = await rack.insert({ id: 'Addon', capture: { sound } });
    // The package "speaker" needs a default device, although it plays on another.
    const config = join(folder, 'asound.conf');
    const inner = rack.env['ALSA_CONFIG_PATH'] ?? '';
    writeFileSync(config, `<${inner}>\npcm.!default { type plug slave.pcm "vcard_Addon" }\n`);
    process.env['ALSA_CONFIG_PATH'] = config;
    const script = join(folder, 'audio-addon.mjs');
    const log = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };
    const given = { device: card.device, rateHz: RATE_HZ, seed: 1, deps: { clock, log }, script };

    const microphone = await listen(card.device, createAddonCapture(given));
    const loudspeaker = await speak(card.device, RATE_HZ, createAddonPlayback(given));
    const said = babble(MINUTE_S * RATE_HZ, 2);
    loudspeaker.say(said);
    const hasFailed = () => microphone.faults.length + loudspeaker.faults.length > 0;
    await until('a minute of captured sound', () => hasFailed() || microphone.seconds() >= MINUTE_S, 150_000);
    await until(
      'a minute of played sound',
      async () => hasFailed() || (await soundedBy(card)).length >= said.length,
      60_000,
    );
    await Promise.all([microphone.capture.close(), loudspeaker.playback.close()]);
    const [heard, played] = [microphone.sound().subarray(0, MINUTE_S * RATE_HZ), await soundedBy(card)];
    const faults = [...microphone.faults, ...loudspeaker.faults];
    await annotate(`${heard.length / RATE_HZ} s captured, ${played.length / RATE_HZ} s played`);
    judgeSound(skip, stallsWith(stalls, card, faults), LONG_STALL_MS, () => {
      expect(faults).toEqual([]);
      expect(differsAt(heard, sound.subarray(0, heard.length))).toBe(-1);
      expect(differsAt(played, said)).toBe(-1);
    });
  });
});
