/** A simulated room between a loudspeaker and a microphone, and voices for it. */
import { fileURLToPath } from 'node:url';
import { loadWav } from '../src/adapters/audio/sound-source.ts';
import { seededRandom as chance } from '../src/core/random.ts';
import { anotherVoice } from '../src/emulator/core/another-voice.ts';
import { createSpectrum, transformLength } from '../src/sound/fourier.ts';
import { toFloat, toPcm } from '../src/sound/pcm.ts';

export const VOICE_RATE_HZ = 24_000;

/** The visitors' voices of the demo's recording. */
export async function visitors(): Promise<Float32Array> {
  const recording = fileURLToPath(new URL('../src/cli/demo/visitor.wav', import.meta.url));
  return toFloat((await loadWav(recording)).pcm);
}

/** The same words with another pitch and start, as the loudspeaker's sound. */
export function interpreter(sound: Float32Array, given: { shift: number; beginS: number }): Float32Array {
  const voice = anotherVoice(sound, VOICE_RATE_HZ, VOICE_RATE_HZ, given.shift);
  const begin = Math.round(given.beginS * VOICE_RATE_HZ) % voice.length;
  const turned = new Float32Array(voice.length);
  turned.set(voice.subarray(begin));
  turned.set(voice.subarray(0, begin), voice.length - begin);
  return turned;
}

/** The sounds in a room with a kiosk. */
export interface Talk {
  /** Sound of the visitors. */
  readonly people: Float32Array;
  /** Sound of the loudspeaker. */
  readonly said: Float32Array;
  /** Background noise of the room. */
  readonly room: Float32Array;
}

export async function talk(seconds: number, roomDb: number): Promise<Talk> {
  const all = await visitors();
  const samples = Math.round(seconds * VOICE_RATE_HZ);
  const said = interpreter(all, { shift: 0.8, beginS: 6 }).subarray(0, samples);
  return { people: all.subarray(0, samples), said, room: noise(samples, roomDb, 5) };
}

export { chance };

/** White noise of this level. */
export function noise(samples: number, levelDb: number, seed: number): Float32Array {
  const next = chance(seed);
  const amplitude = 10 ** (levelDb / 20) * Math.sqrt(3);
  return Float32Array.from({ length: samples }, () => (next() * 2 - 1) * amplitude);
}

export interface Path {
  readonly delayMs: number;
  readonly gainDb: number;
  /** Reverberation time for a decay of 60 dB (s); 0: open air. */
  readonly rt60S: number;
}

/** Impulse response from the loudspeaker: direct sound, then reflections with exponential decay. */
export function impulseResponse({ delayMs, gainDb, rt60S }: Path, rateHz = VOICE_RATE_HZ): Float32Array {
  const next = chance(17);
  const gain = 10 ** (gainDb / 20);
  const delay = Math.round((delayMs * rateHz) / 1000);
  const response = new Float32Array(delay + Math.max(1, Math.round(rt60S * rateHz * 0.8)));
  response[delay] = gain;
  const decay = Math.log(1000) / Math.max(1, rt60S * rateHz);
  for (let at = Math.round(rateHz * 0.004); delay + at < response.length; at++) {
    response[delay + at] = (next() * 2 - 1) * 0.12 * gain * Math.exp(-decay * at);
  }
  return response;
}

/** The sound at the microphone, with the length of the original. */
export function through(path: Path, sound: Float32Array, rateHz = VOICE_RATE_HZ): Float32Array {
  const response = impulseResponse(path, rateHz);
  const size = transformLength(sound.length + response.length);
  const spectrum = createSpectrum(size);
  const re = new Float64Array(size);
  const im = new Float64Array(size);
  const otherRe = new Float64Array(size);
  const otherIm = new Float64Array(size);
  re.set(sound);
  otherRe.set(response);
  spectrum.forward(re, im);
  spectrum.forward(otherRe, otherIm);
  for (let bin = 0; bin < size; bin++) {
    const [a, b, c, d] = [re[bin] ?? 0, im[bin] ?? 0, otherRe[bin] ?? 0, otherIm[bin] ?? 0];
    re[bin] = a * c - b * d;
    im[bin] = a * d + b * c;
  }
  spectrum.inverse(re, im);
  return Float32Array.from(re.subarray(0, sound.length));
}

/** The sum of several sounds. */
export function together(...sounds: readonly Float32Array[]): Float32Array {
  const mixed = new Float32Array(sounds[0]?.length ?? 0);
  for (let index = 0; index < mixed.length; index++) {
    let sum = 0;
    for (const sound of sounds) sum += sound[index] ?? 0;
    mixed[index] = sum;
  }
  return mixed;
}

/** Mean power, dB of full scale 1. @param fromS and @param untilS seconds */
export function levelDb(sound: Float32Array, fromS = 0, untilS = sound.length / VOICE_RATE_HZ): number {
  const part = sound.subarray(Math.round(fromS * VOICE_RATE_HZ), Math.round(untilS * VOICE_RATE_HZ));
  let power = 0;
  // A loop is many times faster than a function call for each sample.
  for (let at = 0; at < part.length; at++) power += (part[at] ?? 0) ** 2;
  return 10 * Math.log10(power / part.length + 1e-12);
}

/** Plays and captures in the order of time: calls back for every write (in advance) and every captured piece. */
export function perform(
  sounds: { played: Float32Array; heard: Float32Array; pieceMs: number; aheadMs?: number; fromMs?: number },
  act: { play(pcm: Uint8Array, heardAt: number): void; capture(pcm: Uint8Array, capturedAt: number): void },
): void {
  const { pieceMs, aheadMs = 200, fromMs = 1_000_000 } = sounds;
  const played = toPcm(sounds.played);
  const heard = toPcm(sounds.heard);
  const bytesPerMs = (VOICE_RATE_HZ * 2) / 1000;
  const piece = pieceMs * bytesPerMs;
  const slice = 100 * bytesPerMs;
  let written = 0;
  for (let at = 0; at + piece <= heard.byteLength; at += piece) {
    const until = (at + piece) / bytesPerMs;
    while (written < played.byteLength && written / bytesPerMs < until + aheadMs) {
      act.play(played.subarray(written, written + slice), fromMs + written / bytesPerMs);
      written += slice;
    }
    act.capture(heard.slice(at, at + piece), fromMs + until);
  }
}

/** Resamples a sound for a clock that is slower by this much. */
export function drifted(sound: Float32Array, ppm: number): Float32Array {
  const reach = 16;
  return sound.map((_, index) => {
    const place = index * (1 + ppm * 1e-6);
    const whole = Math.floor(place);
    const part = place - whole;
    if (part < 1e-9) return sound[whole] ?? 0;
    let sum = 0;
    let sine = Math.sin(Math.PI * part) / Math.PI;
    for (let at = whole; at > whole - reach; at--, sine = -sine) {
      const away = place - at;
      sum += (sound[at] ?? 0) * (sine / away) * (1 - (away / reach) ** 2);
    }
    sine = Math.sin(Math.PI * part) / Math.PI;
    for (let at = whole + 1; at <= whole + reach; at++, sine = -sine) {
      const away = at - place;
      sum += (sound[at] ?? 0) * (sine / away) * (1 - (away / reach) ** 2);
    }
    return sum;
  });
}
