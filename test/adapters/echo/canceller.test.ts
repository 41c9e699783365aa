import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEchoCancellers } from '../../../src/adapters/echo/canceller.ts';
import type { EchoCanceller } from '../../../src/ports/echo.ts';
import { createVirtualClock } from '../../virtual-clock.ts';
import { type BuiltThread, buildThread } from './thread.ts';

const RATES = { heardRateHz: 24_000, playedRateHz: 24_000 };
const PIECE_BYTES = 3840;

let thread: BuiltThread;
const running: EchoCanceller[] = [];
beforeAll(async () => {
  thread = await buildThread();
});
afterAll(() => {
  for (const canceller of running) canceller.close();
  thread.remove();
});

/** 80 ms in which every sample has the same value. */
const piece = (value: number): Uint8Array =>
  new Uint8Array(new Int16Array(PIECE_BYTES / 2).fill(value).buffer);
const firstSample = (pcm: Uint8Array): number => new Int16Array(pcm.buffer, pcm.byteOffset, 1)[0] ?? 0;

/** Time stands still unless a test moves it, so a suspended thread is not late. */
function open(url: URL, clock = createVirtualClock()) {
  const reported: string[] = [];
  const frames: { pcm: Uint8Array; capturedAt: number }[] = [];
  const canceller = createEchoCancellers({ clock, thread: url })(RATES, {
    ready: () => reported.push('ready'),
    found: () => reported.push('found'),
    frames: (pcm, capturedAt) => {
      reported.push('frames');
      frames.push({ pcm, capturedAt });
    },
    failed: (message) => reported.push(`failed: ${message}`),
  });
  running.push(canceller);
  return { canceller, reported, frames };
}

/** A thread that is ready and then handles each message like this. */
const script = (body: string): URL =>
  thread.other(
    `import { parentPort } from 'node:worker_threads';\n` +
      `parentPort.on('message', (message) => { ${body} });\nparentPort.postMessage({ type: 'ready' });\n`,
  );
const captures = (action: string): URL => script(`if (message.type === 'captured') { ${action} }`);

describe('the canceller', () => {
  it('returns every sample in order, with its time', async () => {
    const { canceller, reported, frames } = open(thread.url);
    await expect.poll(() => reported).toEqual(['ready']);
    const started = 1000;
    for (let index = 0; index < 25; index++) canceller.captured(piece(0), started + (index + 1) * 80, 0);
    await expect.poll(() => frames.length).toBe(25);
    expect(frames.map(({ pcm }) => pcm.byteLength)).toEqual(Array(25).fill(PIECE_BYTES));
    for (const [index, { capturedAt }] of frames.entries()) {
      // The time includes the canceller's own delay: the output was captured that much earlier.
      expect(started + (index + 1) * 80 - capturedAt).toBeCloseTo(10, 6);
    }
  });

  it('keeps the rest of an incomplete frame for the next call', async () => {
    const { canceller, reported, frames } = open(thread.url);
    await expect.poll(() => reported).toEqual(['ready']);
    for (let index = 0; index < 40; index++) canceller.captured(new Uint8Array(700), 1000 + index * 14.58, 0);
    const bytes = (): number => frames.reduce((sum, { pcm }) => sum + pcm.byteLength, 0);
    await expect.poll(bytes).toBe(Math.floor((40 * 700) / 480) * 480);
  });

  it('fails when its thread’s file is missing, and names the path', async () => {
    const { canceller, reported } = open(new URL('missing.mjs', thread.url));
    await expect.poll(() => reported.length).toBe(1);
    expect(reported[0]).toMatch(/^failed: .*missing\.mjs is not there$/);
    canceller.close();
    expect(reported).toHaveLength(1);
  });

  it.each([
    ['throws', "throw new Error('broken')", 'failed: broken'],
    ['ends', 'process.exit(3)', 'failed: its thread ended with code 3'],
  ] as const)('returns the held sound after the failure when its thread %s', async (_, action, message) => {
    const { canceller, reported, frames } = open(captures(action));
    await expect.poll(() => reported).toEqual(['ready']);
    for (let index = 1; index <= 5; index++) canceller.captured(piece(index), index * 80, 0);
    await expect.poll(() => reported.length).toBe(7);
    expect(reported).toEqual(['ready', message, ...Array(5).fill('frames')]);
    expect(frames.map(({ pcm, capturedAt }) => [firstSample(pcm), capturedAt])).toEqual(
      [1, 2, 3, 4, 5].map((index) => [index, index * 80]),
    );
  });

  it('fails when its thread is late, but not after one pause of the program', async () => {
    const clock = createVirtualClock();
    const { canceller, reported, frames } = open(captures(''), clock);
    await expect.poll(() => reported).toEqual(['ready']);
    canceller.captured(piece(7), 80, 0);
    // One check after a long pause proves nothing.
    clock.advance(900);
    expect(reported).toEqual(['ready']);
    clock.advance(600);
    expect(reported).toEqual(['ready', expect.stringContaining('too slow'), 'frames']);
    expect(frames.map(({ pcm, capturedAt }) => [firstSample(pcm), capturedAt])).toEqual([[7, 80]]);
  });

  it('fails when its thread is never ready', () => {
    const clock = createVirtualClock();
    const { reported } = open(thread.other('setInterval(() => {}, 1000);'), clock);
    clock.advance(19_000);
    expect(reported).toEqual([]);
    clock.advance(2000);
    expect(reported).toEqual([expect.stringContaining('not ready within 20 s')]);
  });

  it('fails when it holds too much sound, at any time', async () => {
    const { canceller, reported, frames } = open(captures(''), createVirtualClock());
    await expect.poll(() => reported).toEqual(['ready']);
    for (let index = 1; index <= 401; index++) canceller.captured(piece(index), index * 80, 0);
    expect(reported[1]).toContain('failed: it holds too much sound');
    expect(frames.map(({ pcm }) => firstSample(pcm))).toEqual(
      Array.from({ length: 401 }, (_, index) => index + 1),
    );
  });

  it('returns the held sound on close, and nothing after', async () => {
    const { canceller, reported, frames } = open(thread.url);
    await expect.poll(() => reported).toEqual(['ready']);
    canceller.captured(piece(1), 80, 0);
    canceller.captured(piece(2), 160, 0);
    canceller.close();
    expect(frames.map(({ pcm }) => firstSample(pcm))).toEqual([1, 2]);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(reported).toEqual(['ready', 'frames', 'frames']);
  });

  it('reports a found echo before it delivers that sound', async () => {
    const finding = captures(
      "parentPort.postMessage({ type: 'frames', pieces: message.pieces, rests: false, found: true });",
    );
    const { canceller, reported } = open(finding);
    await expect.poll(() => reported, { timeout: 15_000 }).toEqual(['ready']);
    canceller.captured(piece(1), 80, 0);
    await expect.poll(() => reported, { timeout: 15_000 }).toEqual(['ready', 'found', 'frames']);
  });

  describe('the canceller with short pieces', () => {
    /** Answers each message with as many samples as it had pieces, each with that number as value. @param rests reported state */
    const counting = (rests: boolean): URL =>
      captures(
        'const { length } = message.pieces; ' +
          'const pieces = message.pieces.map(({ pcm, capturedAt }) => ({ pcm: new Uint8Array(pcm).fill(length), capturedAt })); ' +
          `parentPort.postMessage({ type: 'frames', pieces, rests: ${rests} });`,
      );
    const SHORT_MS = 20;
    /** Sends two chunks of 16 pieces each; returns how many pieces were in the message of each returned piece. */
    async function chunks(rests: boolean): Promise<number[]> {
      const { canceller, reported, frames } = open(counting(rests));
      await expect.poll(() => reported).toEqual(['ready']);
      canceller.captured(new Uint8Array(960), 0, 0);
      await expect.poll(() => frames.length).toBe(1);
      for (let index = 1; index <= 32; index++) {
        canceller.captured(
          new Uint8Array(960),
          index * SHORT_MS,
          (32 - index) % 16 === 0 ? 0 : ((32 - index) % 16) * SHORT_MS,
        );
      }
      await expect.poll(() => frames.length).toBe(33);
      expect(frames.map(({ capturedAt }) => capturedAt)).toEqual(
        Array.from({ length: 33 }, (_, index) => index * SHORT_MS),
      );
      return frames.slice(1, 17).map(({ pcm }) => pcm[0] ?? 0);
    }

    it('has only the last piece left to process when the chunk is complete', async () => {
      expect(await chunks(false)).toEqual([...Array(12).fill(4), ...Array(3).fill(3), 1]);
    });

    it('wakes its thread once a chunk while it rests', async () => {
      expect(await chunks(true)).toEqual(Array(16).fill(16));
    });

    it('returns waiting pieces after those in the thread', async () => {
      const { canceller, reported, frames } = open(captures(''));
      await expect.poll(() => reported).toEqual(['ready']);
      for (const [value, missingMs] of [
        [1, 0],
        [2, 200],
        [3, 120],
      ] as const)
        canceller.captured(new Uint8Array(960).fill(value), value, missingMs);
      canceller.close();
      expect(frames.map(({ pcm, capturedAt }) => [pcm[0], capturedAt])).toEqual([
        [1, 1],
        [2, 2],
        [3, 3],
      ]);
    });

    it('does not count unsent pieces as late', async () => {
      const clock = createVirtualClock();
      const { canceller, reported } = open(captures(''), clock);
      await expect.poll(() => reported).toEqual(['ready']);
      canceller.captured(new Uint8Array(960), 20, 300);
      clock.advance(60_000);
      expect(reported).toEqual(['ready']);
    });
  });
});
