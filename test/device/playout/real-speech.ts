/** Sound that a service may send: speech of several kinds and languages, music, and what is not PCM. */
import { spawnSync } from 'node:child_process';
import { seededRandom } from '../../../src/core/random.ts';
import { applyGain, samplesOf, toFloat, toPcm } from '../../../src/sound/pcm.ts';
import { visitors } from '../../acoustics.ts';
import { makeSpeech } from '../../conformance/speech.ts';
import { createDice } from '../../sim/dice.ts';
import { CHILD, MAN, speak, WOMAN } from '../../sound/loudness/voices.ts';
import { whispered } from '../../voices/whisper.ts';

const RATE_HZ = 24_000;

/** The loudest it gets with its greatest sample at -1 dBFS. */
export function loudest(pcm: Uint8Array): Uint8Array {
  const peak = samplesOf(pcm).reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  return applyGain(pcm, 29_200 / peak);
}

/** Chords, and a cymbal twice a second: noise without its lower half. */
function music(seconds: number): Uint8Array {
  const random = seededRandom(3);
  let before = 0;
  return toPcm(
    Float32Array.from({ length: seconds * RATE_HZ }, (_, at) => {
      const t = at / RATE_HZ;
      const root = [220, 261.6, 196, 293.7][Math.floor(t) % 4] ?? 220;
      const chord = [1, 1.26, 1.5, 2, 3].reduce(
        (sum, ratio) => sum + Math.sin(2 * Math.PI * root * ratio * t) / ratio,
        0,
      );
      const noise = random() * 2 - 1;
      const cymbal = (noise - before) * Math.exp(-8 * (t % 0.5));
      before = noise;
      return 0.15 * chord * Math.exp(-(t % 1)) + 0.1 * cymbal;
    }),
  );
}

/** Sentences full of hisses, by espeak-ng. */
const SPOKEN: Readonly<Record<string, string>> = {
  en: 'She sells sea shells. Fifty-six thousand fish hissed at the physicist.',
  de: 'Das Zeichen schützt sechsundsechzig zischende Fische.',
  es: 'Sus sesenta y seis casas azules sisean siempre.',
  pl: 'W Szczebrzeszynie chrząszcz brzmi w trzcinie.',
  ru: 'Шесть мышей шуршат в шалаше.',
  'en+whisper': 'She sells sea shells, and whispers something softly.',
};

export const hasEspeak = spawnSync('espeak-ng', ['--version']).status === 0;

function espeak(voice: string, text: string): Uint8Array {
  const { stdout } = spawnSync('espeak-ng', ['-v', voice, '-a', '200', '--stdout', text]);
  return Uint8Array.from(stdout.subarray(44, stdout.length - (stdout.length % 2)));
}

let made: Promise<readonly (readonly [string, Uint8Array])[]> | undefined;

/** Ordinary sound by name, made once, because that takes a second. */
export function ordinarySound(): Promise<readonly (readonly [string, Uint8Array])[]> {
  made ??= makeOrdinarySound();
  return made;
}

async function makeOrdinarySound(): Promise<readonly (readonly [string, Uint8Array])[]> {
  const people = (await visitors()).subarray(0, 20 * RATE_HZ);
  const voices = Object.entries({ MAN, WOMAN, CHILD }).map(
    ([name, voice]) => [name, new Uint8Array(speak(voice, 8).slice().buffer)] as const,
  );
  const spoken = hasEspeak
    ? Object.entries(SPOKEN).map(([voice, text]) => [voice, espeak(voice, text)] as const)
    : [];
  return [
    ['visitors', toPcm(people)],
    ['a whisper', toPcm(whispered(people.subarray(0, 8 * RATE_HZ), createDice(1), 0))],
    ['synthetic speech', makeSpeech(8)],
    ['music', music(8)],
    ...voices,
    ...spoken,
  ];
}

/** Sentences of one speaker each. */
export async function sentences(): Promise<readonly (readonly [string, Uint8Array])[]> {
  return (await ordinarySound()).filter(([name]) => name !== 'music' && !name.includes('whisper'));
}

const bytesOf = (view: ArrayBufferView): Uint8Array =>
  new Uint8Array(view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength) as ArrayBuffer);
const evenBytes = (bytes: Uint8Array): Uint8Array => bytes.subarray(0, bytes.length - (bytes.length % 2));

/** The same sound in another form, read as 16-bit little-endian PCM. */
export const MALFORMED: Readonly<Record<string, (pcm: Uint8Array) => Uint8Array>> = {
  'big-endian samples': (pcm) => bytesOf(Buffer.from(pcm).swap16()),
  'float samples': (pcm) => bytesOf(toFloat(pcm)),
  'big-endian float samples': (pcm) => bytesOf(Buffer.from(bytesOf(toFloat(pcm))).swap32()),
  'a byte too few at its begin': (pcm) => evenBytes(pcm.slice(1)),
  'samples of 32 bits': (pcm) => {
    const random = seededRandom(5);
    return bytesOf(Int32Array.from(samplesOf(pcm), (one) => one * 65_536 + Math.floor(random() * 65_536)));
  },
  'compressed sound': (pcm) => {
    const random = seededRandom(7);
    return Uint8Array.from({ length: evenBytes(pcm).length / 4 }, () => Math.floor(random() * 256));
  },
};
