import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { loadWav } from '../../src/adapters/audio/sound-source.ts';
import { createSystemClock } from '../../src/adapters/clock.ts';
import { type DemoOptions, runDemo } from '../../src/cli/demo/demo.ts';
import { openEnvironment } from '../../src/cli/demo/environment.ts';
import { type DemoFault, inputFor } from '../../src/cli/demo/faults.ts';
import type { DemoModel } from '../../src/cli/demo/model.ts';
import type { Log } from '../../src/ports/log.ts';
import { needs } from '../needs.ts';
import { judgeSound, watchStalls } from '../stalls.ts';
import { inProcessPrograms } from './in-process.ts';

const RECORDING = fileURLToPath(new URL('../../src/cli/demo/visitor.wav', import.meta.url));
/** Stall (ms) of one chunk. Agent, backend and service are one process here, so that speech is late for all of them. */
const LONG_STALL_MS = 320;
const CHUNK_BYTES = 0.32 * 24_000 * 2;
const sentences: { text: string; start: number; end: number }[] = JSON.parse(
  readFileSync(RECORDING.replace(/wav$/, 'json'), 'utf8'),
).sentences;

async function perform(
  output: string,
  options: Partial<DemoOptions> = {},
  maxSessionS: number | null = null,
) {
  const programs = inProcessPrograms({ recordBytes: 16 * 2 ** 20 }, maxSessionS);
  const environment = await openEnvironment(programs);
  const models: DemoModel[] = [];
  const logged: unknown[] = [];
  const note = (fields: object, sentence: string): void => void logged.push([fields, sentence]);
  const log: Log = { trace: note, debug: note, info: note, warn: note, error: note };
  try {
    const summary = await runDemo(environment, {
      input: RECORDING,
      output,
      inputMs: null,
      faults: [],
      clock: createSystemClock(),
      log,
      view: { update: (model) => models.splice(0, 1, model), showPages: () => {}, close: () => {} },
      abort: new AbortController().signal,
      ...options,
    });
    const emulator = programs.emulator();
    const streams = emulator.reports();
    const recordings = streams.map(({ id }) => emulator.recording(id));
    return { summary, model: models[0], streams, recordings, logged, backendLog: programs.log() };
  } finally {
    await environment.close();
  }
}

/**
 * Index of each received chunk in the recording, by its samples; null if it is not in the recording. The last chunk ends with
 * silence, because the microphone continues after the recording.
 */
function matchChunks(received: Uint8Array, recording: Uint8Array): (number | null)[] {
  const chunks = Math.ceil(recording.byteLength / CHUNK_BYTES);
  const heard = new Uint8Array(chunks * CHUNK_BYTES);
  heard.set(recording);
  const chunkAt = (pcm: Uint8Array, index: number): Uint8Array =>
    pcm.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES);
  let next = 0;
  return Array.from({ length: Math.floor(received.byteLength / CHUNK_BYTES) }, (_, index) => {
    const chunk = Buffer.from(chunkAt(received, index));
    for (let candidate = next; candidate < chunks; candidate++) {
      if (!chunk.equals(chunkAt(heard, candidate))) continue;
      next = candidate + 1;
      return candidate;
    }
    return null;
  });
}

const isSilent = (pcm: Uint8Array): boolean => pcm.every((byte) => byte === 0);

/** Compares the file's timeline with the sent sound, ignoring silence in between. @returns the first difference, or null */
function firstDifference(timeline: Uint8Array, sent: Uint8Array): number | null {
  const heard = new Int16Array(timeline.slice().buffer);
  const wanted = new Int16Array(sent.slice().buffer);
  let at = 0;
  for (const sample of heard) {
    if (at < wanted.length && sample === wanted[at]) at += 1;
    else if (sample !== 0) return at;
  }
  return at === wanted.length ? null : at;
}

/** Faults that end a session. */
type EndingFault = Exclude<DemoFault, 'echo'>;
/** Expected counts for each fault. */
const COUNTS: Readonly<Record<EndingFault, object>> = {
  revoke: { revocations: 1, rollovers: 0 },
  'max-duration': { revocations: 0, rollovers: 1 },
  'network-drop': { revocations: 0, rollovers: 0 },
  'broker-drop': { revocations: 0, rollovers: 0 },
  'token-denied': { revocations: 1, rollovers: 0 },
};

export interface Demos {
  /** Whether to test the session's limit, which takes a minute. */
  readonly rollsOver: boolean;
  readonly faults: readonly EndingFault[];
}

export function describeDemo({ rollsOver, faults }: Demos): void {
  describe.concurrent('the demo', () => {
    const folder = mkdtempSync(join(tmpdir(), 'dragoman-e2e-'));
    afterAll(() => rmSync(folder, { recursive: true, force: true }));
    const at = (name: string): string => join(folder, `${name}.wav`);

    it('interprets the recording without losing a sample in either direction', async ({ expect, skip }) => {
      const stalls = watchStalls();
      const output = at('plain');
      const { summary, model, streams, recordings } = await perform(output);
      const recording = (await loadWav(RECORDING)).pcm;
      const [stream] = streams;
      const received = recordings[0]?.received ?? new Uint8Array();

      // To the service: the received chunks are the recording in order; only pauses are missing.
      const indices = matchChunks(received, recording).filter((index) => index !== null);
      const chunks = Math.floor(recording.byteLength / CHUNK_BYTES);
      const missing = Array.from({ length: chunks }, (_, index) => index).filter(
        (index) => !indices.includes(index),
      );
      expect(received.byteLength / CHUNK_BYTES).toBeGreaterThanOrEqual(indices.length);
      // After a stall of seconds the session is dropped, and speech that could not be sent in time is lost.
      judgeSound(skip, stalls, LONG_STALL_MS, () => {
        expect(missing.length).toBeLessThanOrEqual(summary.trimmed_chunks);
        for (const index of missing) {
          const from = index * 0.32;
          const spoken = sentences.find(({ start, end }) => from < end && from + 0.32 > start);
          expect(spoken, `chunk ${index} at ${from} s`).toBeUndefined();
        }
        const lastSpoken = Math.floor(Math.max(...sentences.map(({ end }) => end)) / 0.32);
        expect(indices).toContain(lastSpoken);
      });

      // From the service: the loudspeaker played all sent sound.
      const sent = recordings[0]?.sent ?? new Uint8Array();
      const timeline = await loadWav(output);
      expect(timeline.rateHz).toBe(24_000);
      expect(sent.byteLength).toBeGreaterThan(10 * 48_000);
      expect(firstDifference(timeline.pcm, sent)).toBeNull();
      expect(Math.abs(summary.played_ms - sent.byteLength / 48)).toBeLessThan(2);

      // No rule of the protocol was violated.
      expect(streams).toHaveLength(1);
      expect(stream).toMatchObject({
        duplicate_frames: 0,
        out_of_order_frames: 0,
        invalid_messages: 0,
        frames_discarded: 0,
        segments: sentences.length,
        set_task: { count: 1 },
      });
      expect(summary).toMatchObject({
        sessions: 1,
        rollovers: 0,
        revocations: 0,
        silenced_chunks: 0,
        lost_audio_ms: 0,
        sentences: sentences.length,
        translations: sentences.length,
      });
      expectBalance(summary, expect);
      expect(
        model?.exchanges.every(({ isFinal, translations }) => isFinal && translations.length === 1),
      ).toBe(true);
      // The live view shows all transcripts.
      expect(model?.exchanges.map(({ source }) => source)).toEqual(sentences.map(({ text }) => text));
      // After a stall, chunks that were sent in time may arrive early or late.
      judgeSound(skip, stalls, LONG_STALL_MS, () =>
        expect(stream).toMatchObject({ pacing_violations: 0, get_task: { too_often: 0 } }),
      );
    });

    it('sends only visitors or silence to the service when there is an echo path', async ({
      expect,
      skip,
    }) => {
      const stalls = watchStalls();
      const { summary, recordings, streams } = await perform(at('echo'), { faults: ['echo'] });
      const recording = (await loadWav(RECORDING)).pcm;
      const received = recordings[0]?.received ?? new Uint8Array();
      const neither = matchChunks(received, recording).flatMap((index, at) =>
        index === null && !isSilent(received.subarray(at * CHUNK_BYTES, (at + 1) * CHUNK_BYTES)) ? [at] : [],
      );
      expect(summary.faults).toEqual(['echo']);
      expect(neither, 'chunks that are neither a visitor nor silence').toEqual([]);
      expectBalance(summary, expect);
      judgeSound(skip, stalls, LONG_STALL_MS, () => {
        expect(summary).toMatchObject({ sessions: 1, lost_audio_ms: 0 });
        expect(summary.silenced_chunks).toBeGreaterThan(20);
        expect(streams[0]).toMatchObject({ pacing_violations: 0 });
      });
    });

    it(
      'rolls over to the next session before the limit of the first, without a gap',
      needs(!rollsOver && 'needs a minute: npm run test:long'),
      async ({ expect, skip }) => {
        const stalls = watchStalls();
        const { summary, streams, recordings } = await perform(at('rollover'), { inputMs: 57_000 }, 60);
        expectBalance(summary, expect);
        // After stalls the demo takes longer, and the second session reaches its limit, too.
        judgeSound(skip, stalls, LONG_STALL_MS, () => {
          expect(summary).toMatchObject({ lost_audio_ms: 0, dropped_chunks: 0, resent_chunks: 0 });
          expect(summary).toMatchObject({ sessions: 2, rollovers: 1 });
          // Both sessions received speech, one after the other. The agent ended the first one in time, after its last speech.
          expect(streams).toHaveLength(2);
          for (const stream of streams) {
            expect(stream).toMatchObject({
              pacing_violations: 0,
              repeated_frames: 0,
              out_of_order_frames: 0,
            });
            expect(stream.closed?.by).not.toBe('network');
            expect(stream.open_ms).toBeLessThan(60_000);
          }
        });
        expect(recordings.every(({ sent }) => sent.byteLength > 0)).toBe(true);
        expect(summary.translations).toBe(summary.sentences);
        const played = recordings.reduce((sum, { sent }) => sum + sent.byteLength, 0) / 48;
        expect(Math.abs(summary.played_ms - played)).toBeLessThan(2);
      },
    );

    it('injects all named faults, the next one also before the lane has caught up', async ({
      expect,
      skip,
    }) => {
      const stalls = watchStalls();
      const named = ['revoke', 'network-drop', 'broker-drop'] as const;
      const options = { faults: named, inputMs: inputFor(named) };
      const { summary, streams } = await perform(at('several'), options);
      expectBalance(summary, expect);
      judgeSound(skip, stalls, LONG_STALL_MS, () => {
        expect(summary).toMatchObject({ faults: named, missed_faults: [], revocations: 1 });
        expect(streams.length).toBeGreaterThanOrEqual(named.length + 1);
      });
    });

    it.for(faults.map((fault) => [fault, COUNTS[fault]] as const))(
      'continues in a new session after %s, and accounts for every chunk',
      async ([fault, counts], { skip }) => {
        const stalls = watchStalls();
        const { summary, streams, recordings, logged, backendLog, model } = await perform(at(fault), {
          faults: [fault],
          inputMs: 16_000,
        });
        expectBalance(summary, expect);
        // The key appears in no message or log.
        const told = JSON.stringify([logged, backendLog, model]);
        expect(told).not.toMatch(/demo-[\w-]{20}/);
        judgeSound(skip, stalls, LONG_STALL_MS, () => {
          expect(summary).toMatchObject({
            ...counts,
            sessions: 2,
            faults: [fault],
            lost_audio_ms: 0,
            dropped_chunks: 0,
          });
          expect(streams).toHaveLength(2);
          for (const stream of streams) {
            expect(stream).toMatchObject({
              pacing_violations: 0,
              out_of_order_frames: 0,
              duplicate_frames: 0,
            });
          }
          // Only speech that the broken session had received but not translated is replayed to the next one.
          expect(streams[0]?.repeated_frames).toBe(0);
          // A chunk in transit when the session broke is sent again, but was received only once.
          expect(streams[1]?.repeated_frames).toBeLessThanOrEqual(summary.resent_chunks);
          // Every sentence is translated exactly once.
          const whole = sentences.filter(({ end }) => end < 16).length;
          expect(summary.translations).toBe(summary.sentences);
          expect(summary.sentences).toBeGreaterThanOrEqual(whole);
          expect(summary.sentences).toBeLessThanOrEqual(whole + 1);
          expect(recordings[1]?.received.byteLength).toBeGreaterThan(0);
        });
      },
    );
  });
}

function expectBalance(summary: Awaited<ReturnType<typeof runDemo>>, expectHere: typeof expect): void {
  const { captured_chunks, sent_chunks, silenced_chunks, trimmed_chunks, dropped_chunks, held_chunks } =
    summary;
  expectHere(captured_chunks).toBe(
    sent_chunks + silenced_chunks + trimmed_chunks + dropped_chunks + held_chunks,
  );
}
