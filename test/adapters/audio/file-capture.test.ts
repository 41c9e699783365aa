import { truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AudioFaultError } from '../../../src/adapters/audio/fault.ts';
import {
  createFileCapture,
  type FileCaptureOptions,
  startCapture,
} from '../../../src/adapters/audio/file-capture.ts';
import { createSystemClock } from '../../../src/adapters/clock.ts';
import type { AudioFault, Capture } from '../../../src/ports/audio.ts';
import { createVirtualClock } from '../../virtual-clock.ts';
import {
  makeFolder,
  makeNumbered,
  makePcm,
  makeTone,
  makeWav,
  measureTone,
  readSamples,
  writeTemp,
} from './wav-files.ts';

const RATE_HZ = 24_000;

interface Heard {
  readonly pieces: { pcm: Uint8Array; capturedAt: number; deliveredAt: number }[];
  readonly ends: number[];
  readonly faults: AudioFault[];
  readonly capture: Capture;
  sound(): Buffer;
}

async function listen(options: FileCaptureOptions): Promise<Heard> {
  const { clock } = options;
  const pieces: Heard['pieces'] = [];
  const ends: number[] = [];
  const faults: AudioFault[] = [];
  const capture = await createFileCapture(options)({
    frames: (pcm, capturedAt) => pieces.push({ pcm, capturedAt, deliveredAt: clock.now() }),
    ended: () => ends.push(clock.now()),
    fault: (fault) => faults.push(fault),
  });
  return { pieces, ends, faults, capture, sound: () => Buffer.concat(pieces.map(({ pcm }) => pcm)) };
}

function start(data: Uint8Array, options: Partial<FileCaptureOptions> = {}, rateHz = RATE_HZ) {
  const clock = createVirtualClock(5000);
  const path = writeTemp(makeWav({ rateHz, data }));
  return listen({ path, loop: false, rateHz: RATE_HZ, clock, ...options }).then((heard) => ({
    clock,
    path,
    ...heard,
  }));
}

describe('file capture', () => {
  it('delivers the file bit-exact in real time, then silence forever', async () => {
    const data = makeNumbered(2400);
    const { clock, pieces, ends, sound, capture } = await start(data);
    clock.advance(19);
    expect(pieces).toHaveLength(0);
    clock.advance(1);
    expect(pieces).toHaveLength(1);
    clock.advance(980);
    expect(pieces).toHaveLength(50);
    expect(pieces.every(({ pcm }) => pcm.length === 960)).toBe(true);
    expect(sound().subarray(0, data.length)).toEqual(data);
    expect(
      sound()
        .subarray(data.length)
        .every((byte) => byte === 0),
    ).toBe(true);
    expect(ends).toEqual([5100]);
    await capture.close();
  });

  it('stamps each piece with the time of its last sample', async () => {
    const { clock, pieces } = await start(makeNumbered(2400));
    clock.advance(200);
    expect(pieces.map(({ capturedAt }) => capturedAt)).toEqual(
      Array.from({ length: 10 }, (_, i) => 5020 + i * 20),
    );
    expect(pieces.every(({ capturedAt, deliveredAt }) => capturedAt === deliveredAt)).toBe(true);
  });

  it('reports the end once, with the last sound, even within a piece', async () => {
    const data = makeNumbered(500);
    const { clock, pieces, ends, sound } = await start(data);
    clock.advance(60);
    expect(ends).toEqual([5040]);
    expect(sound().subarray(0, 1000)).toEqual(data);
    expect(pieces[1]?.pcm).toHaveLength(960);
    expect(
      sound()
        .subarray(1000)
        .every((byte) => byte === 0),
    ).toBe(true);
  });

  it('catches up after a late timer, without drift and with exact times', async () => {
    const { clock, pieces, sound } = await start(makeNumbered(24_000));
    clock.advance(30);
    clock.stall(333.3);
    clock.advance(0);
    expect(pieces).toHaveLength(18);
    expect(pieces.at(-1)?.capturedAt).toBe(5360);
    clock.advance(1000 - 363.3);
    expect(pieces).toHaveLength(50);
    expect(sound()).toEqual(makeNumbered(24_000));
  });

  it('does not drift when a piece is not a whole number of samples', async () => {
    const clock = createVirtualClock(0);
    const path = writeTemp(makeWav({ rateHz: 11_025, data: makeNumbered(11_025) }));
    const { pieces, sound, ends } = await listen({ path, loop: false, rateHz: 11_025, clock });
    clock.advance(1000);
    expect(sound()).toEqual(makeNumbered(11_025));
    expect(new Set(pieces.map(({ pcm }) => pcm.length))).toEqual(new Set([440, 442]));
    expect(pieces.at(-1)?.capturedAt).toBeCloseTo(1000, 9);
    expect(ends).toHaveLength(1);
  });

  it('loops without a seam and never ends', async () => {
    const data = makeNumbered(700);
    const { clock, ends, sound } = await start(data, { loop: true });
    clock.advance(200);
    expect(sound()).toEqual(Buffer.concat(Array.from({ length: 7 }, () => data)).subarray(0, 9600));
    expect(ends).toEqual([]);
  });

  it('converts other rates without changing the length', async () => {
    const { clock, ends, sound } = await start(makeTone(500, 1, 44_100), {}, 44_100);
    clock.advance(1500);
    const samples = readSamples(sound());
    expect(samples).toHaveLength(36_000);
    expect(measureTone(samples.slice(2000, 22_000), 500, RATE_HZ)).toBeCloseTo(0.5, 2);
    expect(samples.slice(24_000).every((sample) => sample === 0)).toBe(true);
    expect(ends).toEqual([6000]);
  });

  it('loops other rates without a click at the seam', async () => {
    // 100 whole periods: a seam would be audible as a step.
    const { clock, sound } = await start(makeTone(441, 100 / 441, 44_100), { loop: true }, 44_100);
    clock.advance(2000);
    const samples = readSamples(sound()).slice(100);
    const steps = samples.slice(1).map((sample, i) => Math.abs(sample - (samples[i] ?? 0)));
    expect(Math.max(...steps)).toBeLessThan(0.5 * 32_768 * 2 * Math.PI * (441 / RATE_HZ) * 1.02);
  });

  it('delivers longer pieces when asked to', async () => {
    const { clock, pieces } = await start(makeNumbered(2400), { pieceMs: 40 });
    clock.advance(120);
    expect(pieces.map(({ pcm }) => pcm.length)).toEqual([1920, 1920, 1920]);
  });

  it('delivers nothing after close, and leaves no timer', async () => {
    const { clock, pieces, capture } = await start(makeNumbered(2400));
    clock.advance(40);
    await capture.close();
    await capture.close();
    clock.advance(1000);
    expect(pieces).toHaveLength(2);
    expect(clock.armed).toBe(0);
  });

  it('stops at once when closed during a delivery', async () => {
    const clock = createVirtualClock(0);
    const path = writeTemp(makeWav({ data: makeNumbered(480) }));
    const calls: string[] = [];
    const capture = await createFileCapture({ path, loop: false, rateHz: RATE_HZ, clock })({
      frames: () => {
        calls.push('frames');
        void capture.close();
      },
      ended: () => calls.push('ended'),
      fault: () => calls.push('fault'),
    });
    clock.stall(200);
    clock.advance(200);
    expect(calls).toEqual(['frames']);
    expect(clock.armed).toBe(0);
  });

  it('continues with silence when the file shrinks', async () => {
    const { clock, path, ends, faults, sound } = await start(makeNumbered(24_000));
    clock.advance(100);
    truncateSync(path, 44);
    clock.advance(900);
    expect(sound()).toHaveLength(48_000);
    expect(ends).toHaveLength(1);
    expect(faults).toEqual([]);
  });

  it('delivers silence and reports one fault while the file cannot be read, then continues at the same place', () => {
    const clock = createVirtualClock(0);
    let broken = false;
    let next = 0;
    const source = {
      read(samples: number) {
        if (broken) throw new AudioFaultError('lost', 'cannot read in.wav');
        next += samples;
        return makeNumbered(next).subarray(-samples * 2);
      },
      ended: false,
      note: null,
      lengthMs: 0,
      close() {},
    };
    const pieces: number[] = [];
    const faults: string[] = [];
    startCapture(
      source,
      { rateHz: RATE_HZ, clock },
      {
        frames: (pcm) => pieces.push(readSamples(pcm)[479] ?? Number.NaN),
        ended() {},
        fault: (fault) => faults.push(fault.message),
      },
    );
    clock.advance(40);
    broken = true;
    clock.advance(60);
    broken = false;
    clock.advance(40);
    broken = true;
    clock.advance(20);
    expect(pieces).toEqual([480, 960, 0, 0, 0, 1440, 1920, 0]);
    expect(faults).toEqual(['cannot read in.wav', 'cannot read in.wav']);
  });

  it('refuses a missing, an empty and a foreign file, with the reason', async () => {
    const clock = createVirtualClock();
    const open = (path: string) => listen({ path, loop: true, rateHz: RATE_HZ, clock });
    const missing = join(makeFolder(), 'none.wav');
    await expect(open(missing)).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining(missing),
    });
    await expect(open(writeTemp(makeWav({})))).rejects.toThrow(/holds no sound/);
    await expect(open(writeTemp(Buffer.from('OggS 0123456789')))).rejects.toMatchObject({ code: 'format' });
    expect(clock.armed).toBe(0);
  });

  it('keeps real time on the real clock', async () => {
    const clock = createSystemClock();
    const path = writeTemp(makeWav({ data: makeNumbered(48_000) }));
    const startedAt = clock.now();
    const { pieces, capture } = await listen({ path, loop: false, rateHz: RATE_HZ, clock });
    await expect.poll(() => pieces.length).toBeGreaterThan(20);
    const elapsedMs = clock.now() - startedAt;
    expect(pieces.length * 20).toBeLessThanOrEqual(elapsedMs);
    await capture.close();
    expect(pieces.every(({ capturedAt, deliveredAt }) => deliveredAt >= capturedAt)).toBe(true);
    const numbers = pieces.map(({ capturedAt }) => capturedAt);
    expect(numbers.slice(1).every((at, i) => Math.abs(at - (numbers[i] ?? 0) - 20) < 1e-6)).toBe(true);
  });
});

it('reports a file whose channels cancel each other out, and captures one of them', async () => {
  const tone = readSamples(makeTone(440, 0.1, RATE_HZ));
  const stereo = makePcm(tone.flatMap((left) => [left, -left]));
  const path = writeTemp(makeWav({ channels: 2, data: stereo }));
  const [clock, notes] = [createVirtualClock(5000), [] as string[]];
  const note = (sentence: string): void => void notes.push(sentence);
  const heard = await listen({ path, loop: false, rateHz: RATE_HZ, clock, note });
  clock.advance(60);
  expect(measureTone(readSamples(heard.sound()), 440, RATE_HZ)).toBeGreaterThan(0.3);
  expect(notes).toEqual([expect.stringContaining('cancel each other out (opposite phase)')]);
  await heard.capture.close();
});
