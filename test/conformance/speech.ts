import { readFileSync } from 'node:fs';

/*
 * Sound to send. A service with real speech recognition needs a recording: name a mono 16-bit PCM WAV in DRAGOMAN_CONFORMANCE_WAV.
 * Without one the suite makes synthetic syllables that a voice detector takes for speech: pulses through three moving resonances.
 */

/** The voice that the suite sends and declares in `input_stream`. */
export interface Voice {
  readonly sampleRate: number;
  /** One sentence, 16-bit little-endian mono. */
  readonly sentence: Uint8Array;
}

const VOWELS: readonly (readonly [number, number, number])[] = [
  [730, 1090, 2440],
  [530, 1840, 2480],
  [270, 2290, 3010],
  [570, 840, 2410],
  [300, 870, 2240],
];
const BANDWIDTHS = [80, 100, 140] as const;
const SYLLABLE_S = 0.19;

const spoken = new Map<string, Uint8Array>();

/** Synthetic speech of this length. `pitch` (Hz) distinguishes sentences. Equal requests share one sound. */
export function makeSpeech(seconds: number, sampleRate = 24_000, pitch = 120): Uint8Array {
  const key = [seconds, sampleRate, pitch].join();
  const sound = spoken.get(key) ?? synthesize(seconds, sampleRate, pitch);
  spoken.set(key, sound);
  return Uint8Array.from(sound);
}

function synthesize(seconds: number, sampleRate: number, pitch: number): Uint8Array {
  const samples = new Float64Array(Math.round(seconds * sampleRate));
  const memory = BANDWIDTHS.map(() => [0, 0]);
  let phase = 0;
  let noise = 1;
  for (let index = 0; index < samples.length; index += 1) {
    const t = index / sampleRate;
    const syllable = Math.floor(t / SYLLABLE_S);
    const within = (t % SYLLABLE_S) / SYLLABLE_S;
    phase += (pitch * (1 + 0.08 * Math.sin(2 * Math.PI * 2.1 * t))) / sampleRate;
    noise = (noise * 1103515245 + 12345) % 2147483648;
    let value = (phase % 1 < 0.1 ? 1 : -0.11) + (noise / 1073741824 - 1) * (within < 0.15 ? 0.6 : 0.03);
    const vowel = VOWELS[syllable % VOWELS.length] ?? [500, 1500, 2500];
    for (const [band, bandwidth] of BANDWIDTHS.entries()) {
      const state = memory[band] ?? [0, 0];
      const radius = Math.exp((-Math.PI * bandwidth) / sampleRate);
      const turn = 2 * radius * Math.cos((2 * Math.PI * (vowel[band] ?? 500)) / sampleRate);
      const out = value * (1 - radius) + turn * (state[0] ?? 0) - radius * radius * (state[1] ?? 0);
      memory[band] = [out, state[0] ?? 0];
      value = out * 3;
    }
    samples[index] = value * (0.25 + 0.75 * Math.sin(Math.PI * within) ** 0.6);
  }
  return toPcm(samples);
}

function toPcm(samples: Float64Array): Uint8Array {
  const peak = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 1e-9);
  const pcm = Buffer.alloc(samples.length * 2);
  for (const [index, sample] of samples.entries()) {
    pcm.writeInt16LE(Math.round((sample / peak) * 16_000), index * 2);
  }
  return pcm;
}

/** Silence with a few bits of noise, because a recogniser needs sound to notice the time. */
export function makeSilence(seconds: number, sampleRate = 24_000): Uint8Array {
  const pcm = Buffer.alloc(Math.round(seconds * sampleRate) * 2);
  for (let index = 0; index < pcm.length; index += 2) pcm.writeInt16LE(((index * 7) % 5) - 2, index);
  return pcm;
}

/** A WAV file around 16-bit mono PCM. */
export function makeWav(pcm: Uint8Array, sampleRate = 24_000): Uint8Array<ArrayBuffer> {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + pcm.length, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(pcm.length, 40);
  return new Uint8Array(Buffer.concat([header, pcm]));
}

function readWav(path: string): Voice {
  const file = readFileSync(path);
  if (
    file.toString('latin1', 0, 4) !== 'RIFF' ||
    file.readUInt16LE(22) !== 1 ||
    file.readUInt16LE(34) !== 16
  ) {
    throw new Error(`${path} must be a mono 16-bit PCM WAV`);
  }
  const dataAt = file.indexOf('data', 12, 'latin1');
  return { sampleRate: file.readUInt32LE(24), sentence: new Uint8Array(file.subarray(dataAt + 8)) };
}

/** The sentence that the suite speaks. */
export function loadVoice(): Voice {
  const path = process.env['DRAGOMAN_CONFORMANCE_WAV'];
  if (path !== undefined && path !== '') return readWav(path);
  return { sampleRate: 24_000, sentence: makeSpeech(1.6) };
}
