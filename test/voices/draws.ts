import { anotherVoice } from '../../src/emulator/core/another-voice.ts';
import type { CreateVoiceDetector } from '../../src/ports/voice.ts';
import { createDice, type Dice } from '../sim/dice.ts';
import type { Library } from './material.ts';
import { diceFor, type Kind, LEVELS_DB, makeNoise } from './noises.ts';
import { makeOther, type OtherName } from './others.ts';
import { RATE_HZ, SPEAKER_NAMES, type Speaker } from './recordings.ts';
import { atLevel, mixIn, reverberate, speechLevelDb } from './room.ts';
import { CHUNK_SAMPLES, StandbyLane } from './standby-lane.ts';

/** The draws of a run: utterances that must reach the service whole, and noise that must not wake a lane. */

export interface VoiceDeps {
  readonly library: Library;
  readonly createVoiceDetector: CreateVoiceDetector;
  readonly seed: number;
}

/** Standby time of the lane (ms), the shortest allowed. */
const STANDBY_AFTER_MS = 6000;
/** Level changes of rooms and speakers (dB). */
const SHIFTS_DB = [0, -6, 6] as const;
export const STRETCH_S = 72;

export interface NoiseResult {
  readonly kind: Kind;
  /** For each level change: length of the noise, time with an open stream, and number of wakes. */
  readonly byShift: readonly {
    readonly shiftDb: number;
    readonly ms: number;
    readonly openMs: number;
    readonly wakes: number;
  }[];
  readonly isTold: boolean;
}

/** Plays new stretches of one kind of noise to a lane: a third at the usual level, a third softer, a third louder. */
export async function hearNoise(deps: VoiceDeps, kind: Kind, stretches: number): Promise<NoiseResult> {
  const { createVoiceDetector, library, seed } = deps;
  const kiosk = new StandbyLane({
    createVoiceDetector,
    standbyAfterMs: STANDBY_AFTER_MS,
    understands: () => false,
  });
  const byShift = SHIFTS_DB.map((shiftDb) => ({ shiftDb, ms: 0, openMs: 0, wakes: 0 }));
  for (let stretch = 0; stretch < stretches; stretch++) {
    const part = byShift[Math.floor((stretch * byShift.length) / stretches)];
    if (part === undefined) throw new Error('no shift');
    const sound = makeNoise(kind, STRETCH_S * RATE_HZ, diceFor(seed, kind, stretch), library);
    const before = { openMs: kiosk.openMs, wakes: kiosk.wakes, now: kiosk.now };
    kiosk.hear(atLevel(sound, part.shiftDb, 0));
    part.ms += kiosk.now - before.now;
    part.openMs += kiosk.openMs - before.openMs;
    part.wakes += kiosk.wakes - before.wakes;
  }
  await kiosk.close();
  return { kind, byShift, isTold: kiosk.told.includes('capture_problem') };
}

export const VARIANTS = [
  'plain',
  '6 dB quieter',
  '6 dB louder',
  'RT60 0.5 s',
  'RT60 1.0 s',
  'a fifth up',
] as const;
export type Variant = (typeof VARIANTS)[number];
export const SNRS_DB = [20, 10, 5] as const;
const LEVELS = [-15, -20, -25, -30, -35, -40] as const;
const NOISES = ['fan', 'pink', 'babble'] as const;
/** Pitch factor of a child's voice: a fifth up. */
const CHILD = 1.5;

export interface UtteranceResult {
  readonly speaker: Speaker;
  readonly path: string;
  readonly variant: Variant;
  readonly snrDb: number;
  readonly levelDb: number;
  readonly noise: Kind;
  /** Length of speech that did not reach the service, and the part of it at the beginning (ms). */
  readonly lostMs: number;
  readonly lostBeginMs: number;
  /** Time from its first sound to the wake; null if the lane did not wake. */
  readonly delayMs: number | null;
}

/** One utterance in a room. */
export interface Drawn {
  readonly speaker: Speaker;
  readonly path: string;
  readonly variant: Variant;
  readonly snrDb: number;
  readonly levelDb: number;
  readonly noise: Kind;
  /** Sound of the room with the utterance, in whole chunks. */
  readonly room: Float32Array;
  /** Start and length of the speech, from its first to its last sound. */
  readonly leadMs: number;
  readonly saidMs: number;
}

/** Draws the utterance with this number. */
export function drawUtterance(library: Library, seed: number, index: number): Drawn {
  const dice = createDice(seed * 7_368_787 + index);
  const speaker = SPEAKER_NAMES[index % SPEAKER_NAMES.length] ?? 'en';
  const variant = VARIANTS[Math.floor(index / SPEAKER_NAMES.length) % VARIANTS.length] ?? 'plain';
  const said = library.utterance(dice, speaker);
  const shiftDb = variant === '6 dB quieter' ? -6 : variant === '6 dB louder' ? 6 : 0;
  const levelDb = dice.pick(LEVELS);
  const snrDb = dice.pick(SNRS_DB);
  const noise = dice.pick(NOISES);
  const spoken = vary(said.sound, variant, dice);
  atLevel(spoken, levelDb + shiftDb, speechLevelDb(spoken));
  const lead = Math.round(dice.between(4, 16) * RATE_HZ);
  const total = Math.ceil((lead + spoken.length + 2.5 * RATE_HZ) / CHUNK_SAMPLES) * CHUNK_SAMPLES;
  const room = makeNoise(noise, total, dice, library);
  atLevel(room, levelDb + shiftDb - snrDb);
  mixIn(room, spoken, lead);
  return {
    speaker,
    path: said.path,
    variant,
    snrDb,
    levelDb: levelDb + shiftDb,
    noise,
    room,
    leadMs: (lead / RATE_HZ) * 1000,
    saidMs: (said.sound.length / RATE_HZ) * 1000,
  };
}

/** Plays one utterance to a lane in standby. */
export async function hearUtterance(deps: VoiceDeps, index: number): Promise<UtteranceResult> {
  const { createVoiceDetector, library, seed } = deps;
  const { room, leadMs, saidMs, ...drawn } = drawUtterance(library, seed, index);

  const from = 10_000 + leadMs;
  const until = from + saidMs;
  const kiosk = new StandbyLane({
    createVoiceDetector,
    standbyAfterMs: STANDBY_AFTER_MS,
    understands: (at) => at > from && at < until + 320,
  });
  const chunks: number[] = [];
  let wokeAt: number | null = null;
  for (let at = 0; at < room.length; at += CHUNK_SAMPLES) {
    kiosk.hear(room.subarray(at, at + CHUNK_SAMPLES));
    chunks.push(kiosk.now);
    if (wokeAt === null && kiosk.now > from && kiosk.isOpen) wokeAt = kiosk.now;
  }
  const covering = chunks.filter((end) => end > from && end - 320 < until);
  const lost = covering.filter((end) => !kiosk.isKept(end));
  const firstKept = covering.findIndex((end) => kiosk.isKept(end));
  await kiosk.close();
  return {
    ...drawn,
    lostMs: lost.length * 320,
    lostBeginMs: (firstKept === -1 ? covering.length : firstKept) * 320,
    delayMs: wokeAt === null ? null : wokeAt - from,
  };
}

function vary(sound: Float32Array, variant: Variant, dice: Dice): Float32Array {
  const seed = dice.whole(1, 1e6);
  switch (variant) {
    case 'RT60 0.5 s':
      return reverberate(sound, 0.5, { seed });
    case 'RT60 1.0 s':
      return reverberate(sound, 1, { seed });
    case 'a fifth up':
      return anotherVoice(sound, RATE_HZ, RATE_HZ, CHILD);
    default:
      return sound.slice();
  }
}

export const MIXES = {
  office: [
    ['fan', -10],
    ['keys', -6],
    ['phones', -6],
  ],
  hall: [
    ['babble', 0],
    ['steps', 0],
    ['slams', -6],
  ],
  cafe: [
    ['music', 0],
    ['babble', -6],
  ],
} as const satisfies Record<string, readonly (readonly [Kind, number])[]>;
export type Mix = keyof typeof MIXES;

/** Time between conversations (s), their number of sentences, and natural pauses. */
const TALK_EVERY_S = 150;
const SENTENCES = 6;

/** About twenty minutes of a room with visitors. Measures seconds of open stream for each second of conversation. */
export async function hearMix(
  deps: VoiceDeps,
  mix: Mix,
  talks: number,
): Promise<{ mix: Mix; ratio: number }> {
  const { createVoiceDetector, library, seed } = deps;
  const spans: { from: number; until: number }[] = [];
  const kiosk = new StandbyLane({
    createVoiceDetector,
    standbyAfterMs: STANDBY_AFTER_MS,
    understands: (at) => spans.some(({ from, until }) => at > from && at < until),
  });
  let talkMs = 0;
  for (let talk = 0; talk < talks; talk++) {
    const dice = createDice(seed * 31_337 + talk);
    const sound = new Float32Array(TALK_EVERY_S * RATE_HZ);
    for (const [kind, shiftDb] of MIXES[mix]) {
      mixIn(sound, makeNoise(kind, sound.length, dice, library), 0, 10 ** (shiftDb / 20));
    }
    const speaker = dice.pick(SPEAKER_NAMES as readonly [Speaker, ...Speaker[]]);
    const first = Math.round(dice.between(10, 60) * RATE_HZ);
    let at = first;
    for (let sentence = 0; sentence < SENTENCES; sentence++) {
      const said = library.utterance(dice, speaker).sound.slice();
      if (at + said.length > sound.length) break;
      mixIn(sound, atLevel(said, -28, speechLevelDb(said)), at);
      const from = kiosk.now + (at / RATE_HZ) * 1000;
      at += said.length;
      spans.push({ from, until: kiosk.now + (at / RATE_HZ) * 1000 });
      talkMs += (said.length / RATE_HZ) * 1000;
      if (sentence < SENTENCES - 1) {
        const pause = Math.round(dice.between(0.5, 3) * RATE_HZ);
        at += pause;
        talkMs += (pause / RATE_HZ) * 1000;
      }
    }
    kiosk.hear(sound);
  }
  await kiosk.close();
  return { mix, ratio: kiosk.openMs / talkMs };
}

export interface OtherResult {
  readonly name: OtherName;
  readonly times: number;
  readonly woke: number;
}

/** How often an unknown sound wakes a lane in a quiet room, with a new lane each time. */
export async function hearOther(deps: VoiceDeps, name: OtherName, times: number): Promise<OtherResult> {
  const { createVoiceDetector, library, seed } = deps;
  let woke = 0;
  for (let time = 0; time < times; time++) {
    const sound = makeOther(name, createDice(seed * 77_003 + time), library);
    const kiosk = new StandbyLane({
      createVoiceDetector,
      standbyAfterMs: STANDBY_AFTER_MS,
      understands: () => false,
    });
    kiosk.hear(sound);
    if (kiosk.wakes > 0) woke++;
    await kiosk.close();
  }
  return { name, times, woke };
}

/** The level of a kind in words. */
export function levelOf(kind: Kind): string {
  return `${LEVELS_DB[kind]} dBFS`;
}
