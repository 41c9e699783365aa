import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { loadWav } from '../../../src/adapters/audio/sound-source.ts';
import { phrase } from '../../../src/emulator/core/phrase-book.ts';
import { measureLevel } from '../../../src/sound/sound-level.ts';
import { needs } from '../../needs.ts';
import { isMakeable, makeRecording } from './recording-script.ts';
import { makeFolder } from './wav-files.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const FOLDER = join(ROOT, 'src/cli/demo');
const FRAME_S = 0.02;

const stretch = { start: z.number(), end: z.number() };
const notesSchema = z.strictObject({
  rate_hz: z.literal(24_000),
  seconds: z.number(),
  sentences: z.array(
    z.strictObject({
      ...stretch,
      speaker: z.string(),
      text: z.string(),
      hesitations: z.array(z.strictObject(stretch)),
    }),
  ),
});
const notes = notesSchema.parse(JSON.parse(readFileSync(join(FOLDER, 'visitor.json'), 'utf8')));
const { sentences } = notes;

/** RMS of each 20 ms, dBFS. */
let levels: number[];
let pcm: Uint8Array;

beforeAll(async () => {
  ({ pcm } = await loadWav(join(FOLDER, 'visitor.wav')));
  const frameBytes = FRAME_S * notes.rate_hz * 2;
  levels = Array.from(
    { length: Math.floor(pcm.length / frameBytes) },
    (_, i) => measureLevel(pcm.subarray(i * frameBytes, (i + 1) * frameBytes)).rmsDb,
  );
});

function levelsBetween(start: number, end: number): number[] {
  return levels.slice(Math.ceil(start / FRAME_S), Math.floor(end / FRAME_S));
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

describe('the recording of the demo', () => {
  it('is small, 24 kHz, mono, 16 bits', () => {
    const file = readFileSync(join(FOLDER, 'visitor.wav'));
    expect(file.length).toBeLessThan(1_900_000);
    expect([file.readUInt16LE(22), file.readUInt32LE(24), file.readUInt16LE(34)]).toEqual([1, 24_000, 16]);
    expect(pcm.length / 2 / notes.rate_hz).toBeCloseTo(notes.seconds, 3);
    expect(notes.seconds).toBeGreaterThan(34);
    expect(notes.seconds).toBeLessThan(38);
  });

  it('has the sentences of the emulator’s transcripts, in the same order', () => {
    expect(sentences.map(({ text }) => text)).toEqual(sentences.map((_, i) => phrase(i, 'en')));
    expect(new Set(sentences.map(({ speaker }) => speaker)).size).toBeGreaterThanOrEqual(3);
  });

  it('has room noise everywhere, never digital silence', () => {
    expect(Math.min(...levels)).toBeGreaterThan(-62);
    const ends = [0, ...sentences.map(({ end }) => end)];
    const starts = [...sentences.map(({ start }) => start), notes.seconds];
    for (const [i, end] of ends.entries()) {
      const room = median(levelsBetween(end, starts[i] ?? Number.NaN));
      expect(room).toBeGreaterThan(-60);
      expect(room).toBeLessThan(-55);
    }
  });

  it('has its sentences at the noted times, well above the room, one clearly softer', () => {
    const loudness = sentences.map(({ start, end }) => median(levelsBetween(start, end)));
    expect(Math.min(...loudness)).toBeGreaterThan(-45);
    expect(Math.max(...loudness) - Math.min(...loudness)).toBeGreaterThan(8);
    for (const { start, end } of sentences) {
      expect(end - start).toBeGreaterThan(1.5);
      expect(end - start).toBeLessThan(4);
      expect(Math.max(...levelsBetween(start, start + 0.2))).toBeGreaterThan(-45);
      expect(Math.max(...levelsBetween(end - 0.2, end))).toBeGreaterThan(-45);
    }
  });

  it('pauses only where the desk would answer', () => {
    expect(sentences[0]?.start).toBeCloseTo(1, 1);
    expect(notes.seconds - (sentences.at(-1)?.end ?? 0)).toBeCloseTo(1.5, 1);
    for (const [i, { start }] of sentences.slice(1).entries()) {
      const pause = start - (sentences[i]?.end ?? Number.NaN);
      expect(pause).toBeGreaterThanOrEqual(0.999);
      expect(pause).toBeLessThanOrEqual(3.501);
    }
    for (const { start, end } of sentences) {
      let quietS = 0;
      for (const level of levelsBetween(start, end)) {
        quietS = level < -47 ? quietS + FRAME_S : 0;
        expect(quietS).toBeLessThan(0.6); // A sentence is confirmed after 0.7 s.
      }
    }
  });

  it('hesitates inside sentences', () => {
    const hesitations = sentences.flatMap((sentence) => sentence.hesitations);
    expect(hesitations.length).toBeGreaterThanOrEqual(4);
    for (const { start, end } of hesitations) {
      expect(end - start).toBeGreaterThanOrEqual(0.199);
      expect(end - start).toBeLessThanOrEqual(0.451);
      expect(Math.min(...levelsBetween(start, end))).toBeLessThan(-54);
    }
  });

  it('is made by its script (needs espeak-ng and sox)', needs(!isMakeable && 'needs espeak-ng, sox'), () => {
    const [wav = Buffer.alloc(0), made = Buffer.alloc(0)] = makeRecording(makeFolder());
    const again = notesSchema.parse(JSON.parse(String(made)));
    expect(again.sentences.map(({ text }) => text)).toEqual(sentences.map(({ text }) => text));
    expect((wav.length - 44) / 2 / again.rate_hz).toBeCloseTo(again.seconds, 3);
  });
});
