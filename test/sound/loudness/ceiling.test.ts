import { describe, expect, it } from 'vitest';
import { type Ceiling, createCeiling } from '../../../src/sound/loudness/ceiling.ts';
import { applyGain, joinPcm, samplesOf, toPcm } from '../../../src/sound/pcm.ts';
import { loudest, ordinarySound, sentences } from '../../device/playout/real-speech.ts';

const RATE_HZ = 24_000;
const WRITE_BYTES = 280 * 48;
const CEILING_DB = -1;

function write(ceiling: Ceiling, pcm: Uint8Array): Uint8Array {
  const held: Uint8Array[] = [];
  for (let at = 0; at < pcm.length; at += WRITE_BYTES)
    held.push(ceiling.hold(pcm.slice(at, at + WRITE_BYTES)));
  return joinPcm(held);
}

/** The loudest 100 ms, and the greatest sample, of full scale. */
function measure(pcm: Uint8Array): { level: number; peakDb: number } {
  const samples = samplesOf(pcm);
  const block = RATE_HZ / 10;
  let [level, peak] = [0, 0];
  for (let at = 0; at + block <= samples.length; at += block) {
    const power = samples.subarray(at, at + block).reduce((sum, one) => sum + one * one, 0) / block;
    level = Math.max(level, Math.sqrt(power) / 32_768);
  }
  for (const sample of samples) peak = Math.max(peak, Math.abs(sample) / 32_768);
  return { level, peakDb: 20 * Math.log10(peak) };
}

const tone = (amplitude: number, seconds: number): Uint8Array =>
  toPcm(
    Float32Array.from(
      { length: seconds * RATE_HZ },
      (_, at) => amplitude * Math.sin((2 * Math.PI * 3000 * at) / RATE_HZ),
    ),
  );

/** Speech of the usual loudness: its loudest syllables have about -20 dBFS. */
async function usual(): Promise<Uint8Array> {
  const [first] = await sentences();
  const speech = first?.[1] ?? new Uint8Array(0);
  return applyGain(speech, 0.1 / measure(speech).level);
}

describe('ordinary sound below the ceiling', () => {
  it('passes bit-exact when it is the first, at its own level and at its loudest', async () => {
    for (const [name, pcm] of await ordinarySound())
      for (const sound of [applyGain(loudest(pcm), 0.3), loudest(pcm)])
        expect(Buffer.compare(write(createCeiling(RATE_HZ), sound), sound), name).toBe(0);
  });

  it('passes bit-exact in a conversation of speakers who differ by 6 dB', async () => {
    const ceiling = createCeiling(RATE_HZ);
    for (const [index, [name, pcm]] of (await sentences()).entries()) {
      const sound = applyGain(pcm, ([0.06, 0.12][index % 2] ?? 0) / measure(pcm).level);
      expect(Buffer.compare(write(ceiling, sound), sound), name).toBe(0);
    }
  });

  it('passes bit-exact at normal loudness after a whisper', async () => {
    const ceiling = createCeiling(RATE_HZ);
    const speech = await usual();
    write(ceiling, applyGain(speech, 0.05));
    expect(Buffer.compare(write(ceiling, speech), speech)).toBe(0);
  });
});

describe('sound above the ceiling', () => {
  it('is at most 15 dB louder than the usual sound before it', async () => {
    const ceiling = createCeiling(RATE_HZ);
    write(ceiling, await usual());
    const { level } = measure(write(ceiling, tone(0.89, 2)));
    expect(level).toBeLessThanOrEqual(0.26);
    expect(level).toBeGreaterThan(0.2);
  });

  it('does not become the usual sound by its length', async () => {
    const ceiling = createCeiling(RATE_HZ);
    write(ceiling, await usual());
    expect(measure(write(ceiling, tone(0.89, 30))).level).toBeLessThanOrEqual(0.26);
  });

  it('is softer when it is the first, and louder than any speech', () => {
    const square = Int16Array.from({ length: 2 * RATE_HZ }, (_, at) => (at % 48 < 24 ? 32_767 : -32_768));
    expect(measure(write(createCeiling(RATE_HZ), new Uint8Array(square.buffer))).level).toBeLessThan(0.64);
  });

  it('never has a peak above -1 dBFS', async () => {
    for (const [name, pcm] of await ordinarySound()) {
      const clipped = applyGain(loudest(pcm), 4);
      expect(measure(write(createCeiling(RATE_HZ), clipped)).peakDb, name).toBeLessThanOrEqual(
        CEILING_DB + 0.001,
      );
    }
  });

  it('leaves the sound after it as it came', async () => {
    const ceiling = createCeiling(RATE_HZ);
    const speech = await usual();
    write(ceiling, speech);
    write(ceiling, tone(0.89, 1));
    write(ceiling, speech.slice(0, WRITE_BYTES * 4));
    expect(Buffer.compare(write(ceiling, speech), speech)).toBe(0);
  });

  it('gives its gain to the fade at its end', async () => {
    const ceiling = createCeiling(RATE_HZ);
    expect(ceiling.edge(Uint8Array.of(1, 2))).toEqual(Uint8Array.of(1, 2));
    write(ceiling, await usual());
    write(ceiling, tone(0.89, 1));
    const faded = samplesOf(ceiling.edge(new Uint8Array(Int16Array.of(10_000).buffer)))[0] ?? 0;
    expect(faded).toBeLessThan(5000);
  });
});
