import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MachineFolders } from '../../src/adapters/audio/cards/card.ts';
import { createSystemClock } from '../../src/adapters/clock.ts';
import type { PhraseCode, PhraseLanguage } from '../../src/installer/core/phrases.ts';
import { loadPhrases } from '../../src/installer/phrase-store.ts';
import { createSpeaker } from '../../src/installer/speaker.ts';
import type { DecodedSound } from '../../src/sound/adpcm.ts';
import { samplesOf } from '../../src/sound/pcm.ts';
import { fewPhrases } from '../few-phrases.ts';
import { needs } from '../needs.ts';
import { judgeSound, type Stalls, watchStalls } from '../stalls.ts';
import { type Card, openRack, type SideOptions } from './card.ts';
import { cardNow, stallsWith, until } from './card-lane.ts';
import { likeness } from './likeness.ts';

const hasVoices = ['espeak-ng', 'sox'].every((one) => spawnSync(one, ['--version']).status === 0);
const { rack, missing } = await openRack();
const reason = missing ?? (hasVoices ? null : 'no espeak-ng or sox');
const RATE_HZ = 24_000;
/** Stall of a program (ms) that may cause an underrun, or the report that it takes no sound. */
const LONG_STALL_MS = 100;
const LOG = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

/** The tests search for the phrases in the sound that the card has played. */
describe(`phrases of a kiosk${reason === null ? '' : `: skipped, ${reason}`}`, needs(reason), () => {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-aloud-'));
  const clock = createSystemClock();
  let count = 0;

  let phrases = '';

  beforeAll(async () => {
    rack?.use();
    phrases = (await fewPhrases()).folder;
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await rack?.close();
  });

  const phrase = (language: PhraseLanguage, ...codes: PhraseCode[]): DecodedSound => {
    const sound = loadPhrases(phrases, language, codes);
    if (sound === null) throw new Error('the phrases are missing');
    return sound;
  };
  /** A simulated kernel folder with these cards. */
  async function machine(
    cards: number,
    playback: (index: number) => SideOptions = () => ({}),
  ): Promise<{ cards: Card[]; names: string[]; folders: MachineFolders }> {
    if (rack === null) throw new Error('the virtual cards are missing');
    const place = join(folder, `machine-${++count}`);
    const names = Array.from({ length: cards }, (_, index) => `Box${count}x${index}`);
    const inserted = [];
    for (const [index, id] of names.entries())
      inserted.push(await rack.insert({ id, rateHz: RATE_HZ, playback: playback(index) }));
    for (const [index] of names.entries()) {
      const stream = join(place, 'proc/asound', `card${index}`, 'pcm0p');
      mkdirSync(join(stream, 'sub0'), { recursive: true });
      writeFileSync(join(stream, 'info'), 'card: 0\ndevice: 0\nname: Box\n');
      writeFileSync(join(stream, 'sub0/status'), 'closed\n');
    }
    const lines = names.map(
      (id, index) => ` ${index} [${id.padEnd(15)}]: vcard - Box\n                      Box\n`,
    );
    writeFileSync(join(place, 'proc/asound/cards'), lines.join(''));
    return {
      cards: inserted,
      names,
      folders: { proc: join(place, 'proc'), sys: '/nowhere', dev: '/nowhere' },
    };
  }
  const speak = (
    folders: MachineFolders,
    more: { configured?: string[]; handOver?: () => Promise<boolean> } = {},
  ) =>
    createSpeaker({
      env: process.env,
      clock,
      log: LOG,
      folders,
      configured: [],
      handOver: async () => false,
      ...more,
    });
  /** Stalls of this process and of the programs at these cards: a stalled one may have been reported as taking no sound. */
  async function stallsAt(
    own: Stalls,
    cards: readonly Card[],
    said: readonly { trouble: string | null }[],
  ): Promise<Stalls> {
    const isLost = said.some(({ trouble }) => trouble === 'it accepts no sound');
    const faults = isLost ? [{ code: 'hung' as const, atMs: cardNow() }] : [];
    const all = cards.map((card) => stallsWith(own, card, faults));
    const logs = await Promise.all(cards.map(({ playback }) => playback.log()));
    // The whole sound was written at once: a card has an underrun only if its program is stalled.
    const isDry = logs.flat().some(({ event }) => event === 'xrun');
    return {
      ms: () => Math.max(...all.map(({ ms }) => ms())),
      longestMs: () => (isDry ? Number.POSITIVE_INFINITY : Math.max(...all.map((one) => one.longestMs()))),
    };
  }
  const at24k = (sound: DecodedSound): Int16Array => samplesOf(sound.pcm);

  it('are heard on every card, in its language, and are the right ones', async ({ annotate, skip }) => {
    const stalls = watchStalls();
    const { cards, names, folders } = await machine(3);
    const sound = phrase('de', 'ready');
    const said = await speak(folders).say(sound);
    const inAll = await stallsAt(stalls, cards, said);
    judgeSound(skip, inAll, LONG_STALL_MS, () =>
      expect(said).toEqual(names.map((id) => ({ device: `plughw:CARD=${id}`, trouble: null }))),
    );
    for (const card of cards) {
      const heard = await card.playback.sound();
      const right = likeness(heard, RATE_HZ, at24k(sound), sound.rateHz);
      judgeSound(skip, inAll, LONG_STALL_MS, () => expect(right).toBeGreaterThan(0.9));
      for (const [language, code] of [
        ['en', 'ready'],
        ['de', 'applied'],
        ['de', 'no_microphone'],
      ] as const) {
        const other = phrase(language, code);
        const wrong = likeness(heard, RATE_HZ, at24k(other), other.rateHz);
        expect([language, code, wrong < 0.6]).toEqual([language, code, true]);
      }
      if (card === cards[0]) await annotate(`likeness ${right.toFixed(3)}`);
    }
  });

  it('are two in a row when there are two problems', async ({ skip }) => {
    const stalls = watchStalls();
    const { cards, folders } = await machine(1);
    const said = await speak(folders).say(phrase('en', 'no_network', 'no_microphone'));
    const heard = (await cards[0]?.playback.sound()) ?? new Int16Array(0);
    judgeSound(skip, await stallsAt(stalls, cards, said), LONG_STALL_MS, () => {
      for (const code of ['no_network', 'no_microphone'] as const) {
        const sound = phrase('en', code);
        expect(likeness(heard, RATE_HZ, at24k(sound), sound.rateHz)).toBeGreaterThan(0.9);
      }
    });
  });

  it('are heard on other cards, with a report, when cards hang, are missing or busy', async ({
    annotate,
    skip,
  }) => {
    const { cards, names, folders } = await machine(4);
    cards[0]?.playback.control('stall');
    cards[1]?.playback.control('unplug');
    cards[2]?.playback.control('busy');
    const stalls = watchStalls();
    const began = performance.now();
    const said = await speak(folders).say(phrase('en', 'ready'));
    const took = performance.now() - began;
    await annotate(`${took.toFixed(0)} ms`);
    expect(took).toBeLessThan(15_000 + 2 * stalls.ms());
    // The program at the last card may have stalled.
    judgeSound(skip, await stallsAt(stalls, cards.slice(3), said.slice(3)), LONG_STALL_MS, () =>
      expect(said.map(({ trouble }) => trouble)).toEqual([
        'it accepts no sound',
        expect.stringMatching(/No such device/),
        'busy',
        null,
      ]),
    );
    expect(said.map(({ device }) => device)).toEqual(names.map((id) => `plughw:CARD=${id}`));
    cards[0]?.playback.control();
  });

  it('end early on a card that is unplugged meanwhile', async ({ skip }) => {
    const stalls = watchStalls();
    // The other card finishes soon; the first one takes much longer than the unplugging.
    const { cards, folders } = await machine(2, (index) => ({ speed: index === 0 ? 1 : 8 }));
    const saying = speak(folders).say(phrase('en', ...Array<PhraseCode>(8).fill('wifi_password_wrong')));
    await until(
      'a part of the phrase',
      async () => ((await cards[0]?.playback.sound())?.length ?? 0) > RATE_HZ / 2,
    );
    cards[0]?.playback.control('unplug');
    const said = await saying;
    expect(said[0]?.trouble).not.toBeNull();
    judgeSound(skip, await stallsAt(stalls, cards.slice(1), said.slice(1)), LONG_STALL_MS, () =>
      expect(said[1]?.trouble).toBeNull(),
    );
  });

  it('are not played while the agent plays, nor twice when the agent plays them', async () => {
    const { cards, names, folders } = await machine(2);
    const held = join(folders.proc, 'asound/card0/pcm0p/sub0/status');
    writeFileSync(held, `state: RUNNING\nowner_pid   : ${process.pid}\n`);
    const configured = [`plughw:CARD=${names[0]}`];
    const alone = await speak(folders, { configured }).say(phrase('en', 'ready'));
    expect(alone[0]?.trouble).toMatch(/^busy, held by \S+/);
    writeFileSync(held, 'closed\n');
    const together = await speak(folders, { configured, handOver: async () => true }).say(
      phrase('en', 'ready'),
    );
    expect(together).toEqual([
      { device: "the agent's loudspeakers", trouble: null },
      { device: `plughw:CARD=${names[1]}`, trouble: null },
    ]);
    expect((await cards[0]?.playback.log())?.filter(({ event }) => event === 'start')).toEqual([]);
  });

  it('are heard on twenty cards at the same time', async ({ annotate, skip }) => {
    const stalls = watchStalls();
    const { cards, folders } = await machine(20);
    const began = performance.now();
    const said = await speak(folders).say(phrase('en', 'ready'));
    await annotate(`${(performance.now() - began).toFixed(0)} ms`);
    judgeSound(skip, await stallsAt(stalls, cards, said), LONG_STALL_MS, () =>
      expect(said.map(({ trouble }) => trouble)).toEqual(Array(20).fill(null)),
    );
  });

  it('end at once on request', async () => {
    const { cards, folders } = await machine(2);
    const speaker = speak(folders);
    // Long enough for a slow machine to hear a part of it and end it.
    const saying = speaker.say(phrase('en', ...Array<PhraseCode>(8).fill('key_unreadable')));
    const sounds = async (card: Card): Promise<boolean> => (await card.playback.sound()).length > 0;
    for (const card of cards) await until('a part of the sound', () => sounds(card));
    const stalls = watchStalls();
    const began = performance.now();
    speaker.close();
    expect((await saying).map(({ trouble }) => trouble)).toEqual([
      'stopped on request',
      'stopped on request',
    ]);
    expect(performance.now() - began).toBeLessThan(500 + 2 * stalls.ms());
  });

  it('are reported as not played when aplay is missing', async () => {
    const { folders } = await machine(1);
    const speaker = createSpeaker({
      env: { ...process.env, PATH: '/nowhere' },
      clock,
      log: LOG,
      folders,
      configured: [],
      handOver: async () => false,
    });
    expect((await speaker.say(phrase('en', 'ready')))[0]?.trouble).toMatch(/aplay|not installed/);
  });
});
