import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect } from 'vitest';
import type { PhraseCode } from '../../src/installer/core/phrases.ts';
import { loadPhrases } from '../../src/installer/phrase-store.ts';
import { samplesOf } from '../../src/sound/pcm.ts';
import { type Card, openRack } from '../card/card.ts';
import { likeness } from '../card/likeness.ts';
import { type Kiosk, SERVICE, until } from './kiosk.ts';
import { underSystemd } from './under-systemd.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Folder of a kernel's sound cards. A unit that hides it also hides the virtual cards. */
const CARDS = '/dev/snd';
const AUDIO_GROUP = 29;
const RATE_HZ = 24_000;
const REPORT = 'dragoman-boot-report.service';
const STATUS = '/boot/dragoman-status.txt';
/** A dragoman.json with a mistake. */
const BAD = '{"format":1,"wifi":{"ssid":"Museum","passphrase":"short"}}';
const SURE = 0.85;
const STARTED_AGAIN = /\bpart=playback\b.*\bcode=hung\b.*\bfailures=(\d+)/g;
const LONGEST_PHRASE_MS = 8000;
/** Time to hear a phrase whole (ms): the first two may be interrupted on a slow machine. */
const HEARD_LIMIT_MS = 300_000;

const hasVoices = ['espeak-ng', 'sox'].every((one) => spawnSync(one, ['--version']).status === 0);
const { rack, missing } = await openRack(CARDS);
const phrases = mkdtempSync(join(tmpdir(), 'dragoman-aloud-'));
afterAll(async () => {
  rmSync(phrases, { recursive: true });
  await rack?.close();
});
const reason = missing ?? (hasVoices ? null : 'no espeak-ng or sox');
if (reason === null) {
  execFileSync('scripts/build-phrases', ['--out', phrases], { cwd: ROOT, stdio: 'ignore' });
  chmodSync(phrases, 0o755);
}
if (rack !== null && process.getuid?.() === 0) {
  chownSync(rack.folder, 0, AUDIO_GROUP);
  chmodSync(rack.folder, 0o770);
}
let count = 0;

underSystemd(
  'phrases of a kiosk after its start',
  (test) => {
    test('announces a mistake in its settings, with aplay, on the card of its configuration', async (kiosk, {
      annotate,
    }) => {
      const card = await insert(kiosk);
      await provision(kiosk, BAD);
      await kiosk.systemctl('start', REPORT);
      await annotate(`heard after ${(await untilHeard(kiosk, card, 'file_invalid')).toFixed(0)} ms`);
      expect(await likenessOf(card, 'file_unreadable')).toBeLessThan(0.7);
      const status = await kiosk.machine.must(['cat', STATUS]);
      expect(status).toMatch(/^Result: file_invalid\./m);
      expect(status).toMatch(/^State: {2}file_invalid\. [\s\S]*Found: wifi\.passphrase must have/m);
      await until('the journal has it', async () =>
        (await journal(kiosk)).includes('The file dragoman.json has a mistake.'),
      );
      await until('the status file names the card', async () =>
        (await kiosk.machine.must(['cat', STATUS])).includes(`Announced on ${card.device}.`),
      );
      // Without the stop, it would run for another half an hour.
      expect(await kiosk.stop(REPORT)).toBeLessThan(10_000);
      expect(await kiosk.show('Result', REPORT)).toBe('success');
    });

    test('announces that it is ready, by the agent, which holds the card', async (kiosk, { annotate }) => {
      const card = await insert(kiosk);
      // An echoing service would send endless silence, and the phrase would wait for its end.
      await kiosk.serve('--translate silence');
      await kiosk.systemctl('start', SERVICE);
      await kiosk.live();
      await provision(kiosk, '{"format":1}');
      await kiosk.systemctl('start', REPORT);
      await annotate(`heard after ${(await untilHeard(kiosk, card, 'ready')).toFixed(0)} ms`);
      await until('it has ended', async () => (await kiosk.show('ActiveState', REPORT)) === 'inactive');
      expect(await kiosk.show('Result', REPORT)).toBe('success');
      expect(await kiosk.machine.must(['cat', STATUS])).toMatch(
        /^State: {2}ready\. The kiosk is ready\.[\s\S]*Announced on the agent's loudspeakers\./m,
      );
      // Only the agent's aplay has opened the card. If aplay hung for seconds, the agent has restarted it and reported that.
      const opened = (await card.playback.log()).filter(({ event }) => event === 'open' || event === 'busy');
      const openers = new Set(opened.map(({ pid }) => pid)).size;
      const startedAgain = [...(await kiosk.journal('warning')).matchAll(STARTED_AGAIN)];
      const most = startedAgain.reduce((sum, [, failures]) => sum + Number(failures), 1);
      expect(openers).toBeGreaterThan(0);
      expect(openers).toBeLessThanOrEqual(most);
      await kiosk.live();
    });

    test('announces nothing when no settings were read', async (kiosk) => {
      await insert(kiosk);
      await kiosk.machine.run(['rm', '-f', '/run/dragoman/provisioning.json']);
      await kiosk.systemctl('start', REPORT);
      expect(await kiosk.show('ConditionResult', REPORT)).toBe('no');
    });
  },
  {
    missing: reason,
    shared: [
      ...(rack === null ? [] : [{ from: rack.folder, to: CARDS, writable: true }]),
      { from: phrases, to: '/usr/share/dragoman/phrases' },
    ],
  },
);

async function insert(kiosk: Kiosk): Promise<Card> {
  if (rack === null) throw new Error('the virtual cards are missing');
  // The microphone hears a quiet room: digital silence would be reported as a fault.
  const room = Int16Array.from({ length: RATE_HZ }, () => Math.round((Math.random() - 0.5) * 40));
  const capture = { sound: room, loop: true };
  const card = await rack.insert({ id: `Aloud${++count}`, rateHz: RATE_HZ, capture });
  const lines = `Environment=ALSA_CONFIG_PATH=${CARDS}/alsa.conf`;
  await kiosk.edit([lines]);
  await kiosk.machine.write(`/etc/systemd/system/${REPORT}.d/cards.conf`, `[Service]\n${lines}\n`);
  await kiosk.machine.must(['systemctl', 'daemon-reload']);
  await kiosk.machine.run(['systemctl', 'stop', REPORT]);
  await kiosk.configure({
    capture: { device: card.device },
    playback: { device: card.device, normalize: false },
    source: 'en',
    targets: ['es'],
    earcons: false,
  });
  return card;
}

/** Writes this file to the boot partition, and reads the settings as at boot. */
async function provision(kiosk: Kiosk, file: string): Promise<void> {
  await kiosk.machine.must(['rm', '-f', STATUS]);
  await kiosk.machine.write('/boot/dragoman.json', file);
  await kiosk.machine.run(['systemctl', 'restart', 'dragoman-provision.service']);
  await kiosk.machine.must(['cat', '/run/dragoman/provisioning.json']);
}

async function likenessOf(card: Card, code: PhraseCode): Promise<number> {
  const sound = loadPhrases(phrases, 'en', [code]);
  if (sound === null) throw new Error('the phrases are missing');
  return likeness(await card.playback.sound(), RATE_HZ, samplesOf(sound.pcm), sound.rateHz);
}

/** Waits until a phrase is heard whole. It is spoken again if the card has a gap, because the machine was too slow. */
async function untilHeard(kiosk: Kiosk, card: Card, code: PhraseCode): Promise<number> {
  let gaps = 0;
  const isHeard = async (): Promise<boolean> => (await likenessOf(card, code)) > SURE;
  const isHeardWhole = async (): Promise<boolean> => {
    if (await isHeard()) return true;
    const found = (await card.playback.log()).filter(({ event }) => event === 'xrun').length;
    if (found === gaps) return false;
    await new Promise((resolve) => setTimeout(resolve, LONGEST_PHRASE_MS));
    if (await isHeard()) return true;
    gaps = found;
    await kiosk.systemctl('restart', REPORT);
    return false;
  };
  return until(`${code} is heard`, isHeardWhole, HEARD_LIMIT_MS);
}

const journal = (kiosk: Kiosk): Promise<string> =>
  kiosk.machine.must(['journalctl', '-u', REPORT, '-o', 'cat', '--no-pager']);
