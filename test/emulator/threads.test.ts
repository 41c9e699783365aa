import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSystemClock } from '../../src/adapters/clock.ts';
import { createLateness } from '../../src/emulator/core/lateness.ts';
import type { RenderJob } from '../../src/emulator/core/render.ts';
import type { Emulator } from '../../src/emulator/server.ts';
import { createHearing } from '../../src/emulator/threads/hearing.ts';
import { createSpeechQueue } from '../../src/emulator/threads/speech-queue.ts';
import { createSpeechMaker } from '../../src/emulator/threads/speech-thread.ts';
import { createEnergyDetector } from '../../src/sound/energy-detector.ts';
import type { TestClient } from './client.ts';
import { sentence } from './core/harness.ts';
import { chunks, concat, pcm } from './core/voice.ts';
import { open, start } from './started-emulator.ts';
import { buildThread, describeCrowd } from './threads.ts';

const HZ = 24_000;
let folder: string;
let thread: URL;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'emulator-threads-'));
  thread = await buildThread(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** A thread with other code. */
function other(code: string): URL {
  const file = join(folder, `other-${Math.random()}.mjs`);
  writeFileSync(file, code);
  return pathToFileURL(file);
}

/** Speaks two sentences in the service's time; returns their texts, speech and segments. */
async function converse(emulator: Emulator, client: TestClient): Promise<[string[], Buffer, number]> {
  for (const chunk of chunks(concat(sentence(), sentence()), HZ)) {
    const heard = emulator.reports()[0]?.frames_in ?? 0;
    client.audio(chunk);
    await expect.poll(() => emulator.reports()[0]?.frames_in).toBe(heard + 1);
    await emulator.advance(320);
  }
  client.send('end_task', { eos_timeout: 30 });
  await client.closed;
  const texts = client.received
    .filter(({ message_type }) => message_type === 'translated_transcription')
    .map(({ data }) => String((data['transcription'] as { text: string }).text));
  return [texts, client.sound(), emulator.reports()[0]?.segments ?? 0];
}

describe('an emulator with threads', () => {
  test('gives the same result as one without threads', async () => {
    const results = [];
    for (const threads of [null, thread]) {
      const emulator = await start({ threads });
      results.push(await converse(emulator, await open(emulator)));
    }
    const [here, there] = results;
    expect(there).toEqual(here);
    expect(there?.[0]).toHaveLength(2);
  });

  test('finishes undecided sound before end_task ends the stream', async () => {
    const emulator = await start({ threads: thread, tooFast: 'tolerate' });
    const client = await open(emulator);
    for (const chunk of chunks(sentence(), HZ)) client.audio(chunk);
    client.send('end_task');
    await client.closed;
    expect(client.sound().length).toBeGreaterThan(HZ);
    expect(emulator.reports()[0]?.segments).toBe(1);
  });

  test('shows its threads and delays in metrics', async () => {
    const emulator = await start({ threads: thread });
    const client = await open(emulator);
    await converse(emulator, client);
    const metrics = (await (await fetch(`${emulator.url}/emulator/metrics`)).json()) as {
      load: object;
      streams: object[];
    };
    const late = { p50: expect.any(Number), p99: expect.any(Number), max: expect.any(Number) };
    expect(metrics.load).toEqual({
      event_loop_late_ms: late,
      hearing: { thread: true, waiting: 0, late_ms: late, unheard_ms: 0 },
      speech: { thread: true, waiting: 0, late_ms: late, dropped: 0 },
    });
    expect(metrics.streams[0]).toMatchObject({
      speeches_late: expect.any(Number),
      speech_late_ms: expect.any(Number),
      worst_speech_late_ms: expect.any(Number),
    });
  });

  test('reports threads that end, and does their work in the main thread', async () => {
    const said: string[] = [];
    const dying = other(
      'import { parentPort } from "node:worker_threads"; parentPort.on("message", () => process.exit(3));',
    );
    const emulator = await start({ threads: dying, complain: (sentence) => said.push(sentence) });
    const client = await open(emulator);
    client.audio(pcm(new Int16Array(7680)));
    await expect.poll(() => said.length).toBe(1);
    const [texts, sound] = await converse(emulator, client);
    expect(texts).toHaveLength(2);
    expect(sound.length).toBeGreaterThan(HZ * 2);
    expect(said).toEqual([
      expect.stringContaining('the thread that hears has ended (code 3)'),
      expect.stringContaining('the thread that makes speech has ended (code 3)'),
    ]);
    expect(emulator.service.streams()).toEqual([]);
  });

  test('treats a thread without code as one that has ended', async () => {
    const said: string[] = [];
    const emulator = await start({
      threads: new URL('./nowhere.mjs', thread),
      complain: (sentence) => said.push(sentence),
    });
    await expect.poll(() => said.length).toBe(2);
    const [texts] = await converse(emulator, await open(emulator));
    expect(texts).toHaveLength(2);
  });
});

/** The long test has ten. */
describeCrowd(4);

describe('bounds', () => {
  const job = (id: number, samples: number): RenderJob => ({
    id,
    stream: 's',
    sentence: 's-1',
    mode: 'silence',
    spoken: new Int16Array(samples),
    spokenHz: HZ,
    text: 'x',
    language: 'es',
    voice: 'high',
    variant: 0,
    tempo: 1,
    outputHz: HZ,
    outputChannels: 1,
  });

  test('refuse and count sentences when the queue is full', async () => {
    const clock = createSystemClock();
    const finished: number[] = [];
    const queue = createSpeechQueue({
      clock,
      maker: createSpeechMaker(null, () => {}),
      speak: null,
      isWanted: () => true,
      finished: ({ id }) => finished.push(id),
    });
    const taken = Array.from({ length: 4100 }, (_, id) => queue.put(job(id, 10)));
    expect(taken.filter((one) => one)).toHaveLength(4000);
    expect(queue.figures()).toMatchObject({ waiting: 4000, dropped: 100 });
    await expect.poll(() => queue.isIdle).toBe(true);
    expect(finished).toHaveLength(4000);
    expect(
      Array.from({ length: 30 }, (_, id) => queue.put(job(id, 4_000_000))).filter((one) => one).length,
    ).toBe(17);
    queue.close();
  });

  test('replace sound with silence when the queue is full', async () => {
    const stuck = other(
      'import { parentPort } from "node:worker_threads"; parentPort.on("message", () => {});',
    );
    const hearing = createHearing({
      clock: createSystemClock(),
      thread: stuck,
      createHere: createEnergyDetector,
      decided: () => {},
      complain: () => {},
    });
    const detector = hearing.createDetector(HZ, 's');
    const second = new Int16Array(HZ);
    for (let count = 0; count < 4300; count++) detector.hear(second, () => {});
    expect(detector.isBehind).toBe(true);
    const { waiting, unheard_ms } = hearing.figures();
    expect(waiting).toBe(4300);
    expect(unheard_ms).toBe(105_000);
    hearing.close();
  });

  test('limit lateness to the last delays', () => {
    const lateness = createLateness(100);
    expect(lateness.summary()).toEqual({ p50: 0, p99: 0, max: 0 });
    for (let ms = 1; ms <= 1000; ms++) lateness.add(ms);
    expect(lateness.summary()).toEqual({ p50: 951, p99: 1000, max: 1000 });
  });
});
