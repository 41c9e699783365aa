import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { createFilePlayback, type FilePlaybackOptions } from '../../../src/adapters/audio/file-playback.ts';
import { OWN_HEADER_BYTES } from '../../../src/adapters/audio/own-wav.ts';
import { loadWav } from '../../../src/adapters/audio/sound-source.ts';
import type { AudioFault } from '../../../src/ports/audio.ts';
import { fadeOut } from '../../../src/sound/fade.ts';
import { fc } from '../../properties.ts';
import { createVirtualClock } from '../../virtual-clock.ts';
import { makeFolder, makeNumbered, makePcm, readSamples } from './wav-files.ts';

const RATE_HZ = 24_000;
const START_MS = 5000;
const SAMPLES_PER_MS = RATE_HZ / 1000;

async function start(options: Partial<FilePlaybackOptions> = {}) {
  const clock = createVirtualClock(START_MS);
  const path = options.path ?? join(makeFolder(), 'out.wav');
  const faults: AudioFault[] = [];
  const news: string[] = [];
  const open = createFilePlayback({ path, rateHz: RATE_HZ, maxMs: 3_600_000, clock, ...options });
  const playback = await open({
    fault: (fault) => {
      faults.push(fault);
      news.push('fault');
    },
    back: () => news.push('back'),
    missed: () => {},
    measured: () => {},
  });
  return { clock, path, faults, news, playback };
}

/** The file as a reader sees it: its header must match its content. */
function readTimeline(path: string): number[] {
  const file = readFileSync(path);
  expect(file.toString('latin1', 0, 4) + file.toString('latin1', 8, 16)).toBe('RIFFWAVEfmt ');
  expect(file.readUInt32LE(4)).toBe(file.length - 8);
  expect(file.readUInt32LE(OWN_HEADER_BYTES - 4)).toBe(file.length - OWN_HEADER_BYTES);
  expect(file.readUInt32LE(24)).toBe(RATE_HZ);
  return readSamples(file.subarray(OWN_HEADER_BYTES));
}

/** The first 8 ms of the dropped sound, faded out as by a flush. */
function fadeAway(rest: readonly number[]): number[] {
  return readSamples(fadeOut(makePcm(rest.slice(0, 8 * SAMPLES_PER_MS))));
}

function zeros(count: number): number[] {
  return Array.from({ length: count }, () => 0);
}

describe('file playback', () => {
  it('writes a timeline in real time, with silence in the gaps', async () => {
    const { clock, path, playback } = await start();
    const sound = makeNumbered(2400);
    clock.advance(250);
    expect(playback.write(sound).from).toBe(START_MS + 250);
    clock.advance(350);
    await playback.close();
    const samples = [...zeros(6000), ...readSamples(sound), ...zeros(6000)];
    expect(readTimeline(path)).toEqual(samples);
  });

  it('is a valid file at every moment, and at once', async () => {
    const { clock, path, playback } = await start();
    expect(readTimeline(path)).toEqual([]);
    playback.write(makeNumbered(24_000));
    for (let ms = 0; ms < 1200; ms += 70) {
      const samples = readTimeline(path);
      expect(samples.length).toBeGreaterThan((ms - 101) * SAMPLES_PER_MS);
      expect(samples.length).toBeLessThanOrEqual(ms * SAMPLES_PER_MS);
      clock.advance(70);
    }
    await playback.close();
  });

  it('plays writes directly after each other and returns when each is heard', async () => {
    const { clock, path, playback } = await start();
    clock.advance(10);
    expect(playback.write(makePcm([1, 2, 3])).from).toBe(START_MS + 10);
    expect(playback.write(makeNumbered(2397)).from).toBeCloseTo(START_MS + 10 + 3 / SAMPLES_PER_MS, 9);
    expect(playback.write(makePcm([7])).from).toBeCloseTo(START_MS + 110, 9);
    clock.advance(400);
    expect(playback.write(makePcm([8])).from).toBe(START_MS + 410);
    clock.advance(10);
    await playback.close();
    const samples = readTimeline(path);
    expect(samples.slice(240, 243)).toEqual([1, 2, 3]);
    expect(samples.slice(243, 2640)).toEqual(readSamples(makeNumbered(2397)));
    expect(samples[2640]).toBe(7);
    expect(samples[410 * SAMPLES_PER_MS]).toBe(8);
    expect(samples.filter((sample) => sample !== 0)).toHaveLength(2402);
  });

  it('never returns a time in the past, even between two samples', async () => {
    const { clock, playback } = await start();
    clock.advance(10.01);
    const { from: heardAt } = playback.write(makePcm([1]));
    expect(heardAt).toBeGreaterThanOrEqual(clock.now());
    expect(heardAt - clock.now()).toBeLessThan(1 / SAMPLES_PER_MS);
  });

  it('drops unheard sound on a flush and fades out the present sound', async () => {
    const { clock, path, playback } = await start();
    playback.write(makeNumbered(24_000));
    clock.advance(130);
    playback.flush();
    clock.advance(70);
    expect(playback.write(makePcm([9])).from).toBe(START_MS + 200);
    clock.advance(50);
    playback.flush();
    await playback.close();
    const samples = readTimeline(path);
    expect(samples.slice(0, 3120)).toEqual(readSamples(makeNumbered(3120)));
    const faded = fadeAway(readSamples(makeNumbered(24_000)).slice(3120));
    expect(samples.slice(3120)).toEqual([...faded, ...zeros(1680 - faded.length), 9, ...zeros(1199)]);
  });

  it('continues directly after the fade when written to after a flush', async () => {
    const { clock, path, playback } = await start();
    playback.write(makeNumbered(24_000));
    clock.advance(130.37);
    const heard = Math.ceil(130.37 * SAMPLES_PER_MS);
    playback.flush();
    playback.write(makePcm([9, 8]));
    clock.advance(50);
    await playback.close();
    const samples = readTimeline(path);
    const all = readSamples(makeNumbered(24_000));
    const faded = fadeAway(all.slice(heard));
    const end = heard + faded.length;
    expect(samples.slice(0, end + 2)).toEqual([...all.slice(0, heard), ...faded, 9, 8]);
    expect(faded.at(-1)).toBe(0);
    expect(samples.slice(end + 2).every((sample) => sample === 0)).toBe(true);
  });

  it('keeps every sample in its place, for any order of writes', async () => {
    const step = fc.record({
      waitMs: fc.integer({ min: 0, max: 400 }),
      samples: fc.integer({ min: 0, max: 9000 }),
      flush: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const { clock, path, playback } = await start();
        const wanted: number[] = [];
        const reach = () => Math.floor((clock.now() - START_MS) * SAMPLES_PER_MS);
        for (const { waitMs, samples, flush } of steps) {
          clock.advance(waitMs);
          if (flush) {
            playback.flush();
            const edge = fadeAway(wanted.slice(reach()));
            wanted.length = Math.min(wanted.length, reach());
            wanted.push(...edge);
          }
          const sound = makeNumbered(samples);
          const { from: heardAt } = playback.write(sound);
          while (wanted.length < reach()) wanted.push(0);
          expect(heardAt).toBeCloseTo(START_MS + wanted.length / SAMPLES_PER_MS, 6);
          wanted.push(...readSamples(sound));
        }
        clock.advance(77);
        await playback.close();
        while (wanted.length < reach()) wanted.push(0);
        expect(readTimeline(path)).toEqual(wanted.slice(0, reach()));
      }),
      { numRuns: 20 },
    );
  });

  it('catches up after a blocked event loop', async () => {
    const { clock, path, playback } = await start();
    playback.write(makeNumbered(2400));
    clock.stall(3000);
    clock.advance(0);
    await playback.close();
    expect(readTimeline(path)).toEqual([...readSamples(makeNumbered(2400)), ...zeros(69_600)]);
  });

  it('leaves no timer and accepts nothing after close', async () => {
    const { clock, path, playback } = await start();
    await playback.close();
    await playback.close();
    playback.write(makePcm([1]));
    clock.advance(1000);
    playback.flush();
    expect(clock.armed).toBe(0);
    expect(readTimeline(path)).toEqual([]);
  });
});

describe('file playback with a failing file', () => {
  it('reports a missing folder once, and starts when it exists', async () => {
    const path = join(makeFolder(), 'later', 'out.wav');
    const { clock, faults, news, playback } = await start({ path });
    clock.advance(500);
    expect(news).toEqual(['fault']);
    expect(faults).toEqual(
      [
        {
          code: 'not_found',
          message: `cannot write ${path}: the folder ${dirname(path)} does not exist; make it, or name another place`,
        },
      ].map((fault) => expect.objectContaining(fault)),
    );
    mkdirSync(dirname(path));
    playback.write(makeNumbered(2400));
    clock.advance(300);
    await playback.close();
    expect(faults).toHaveLength(1);
    expect(news).toEqual(['fault', 'back']);
    expect(readTimeline(path)).toEqual([
      ...zeros(12_000),
      ...readSamples(makeNumbered(2400)),
      ...zeros(4800),
    ]);
  });

  it('reports a folder with the file’s name', async () => {
    const { clock, faults } = await start({ path: makeFolder() });
    clock.advance(200);
    expect(faults.map((fault) => fault.message)).toEqual([
      expect.stringMatching(/it is a folder; name a file/),
    ]);
  });

  it('reports a full disk once and keeps time', async () => {
    const { clock, faults, playback } = await start({ path: '/dev/full' });
    clock.advance(1000);
    expect(playback.write(makeNumbered(2400)).from).toBe(START_MS + 1000);
    expect(playback.write(makeNumbered(1)).from).toBe(START_MS + 1100);
    clock.advance(1000);
    playback.flush();
    await playback.close();
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatchObject({ code: 'failed' });
    expect(faults[0]?.message).toBe('cannot write /dev/full: the disk is full; free some space');
  });

  it('continues over the oldest sound at its maximum length, and stays valid', async () => {
    const { clock, path, faults, playback } = await start({ maxMs: 500 });
    const samples = [...readSamples(makeNumbered(24_000))];
    playback.write(makeNumbered(24_000));
    clock.advance(700);
    const half = RATE_HZ / 2;
    const fifth = RATE_HZ / 5;
    expect([...readTimeline(path)]).toEqual([
      ...samples.slice(half, half + fifth),
      ...samples.slice(fifth, half),
    ]);
    clock.advance(1300);
    expect(playback.write(makeNumbered(10)).from).toBe(START_MS + 2000);
    await playback.close();
    expect(readTimeline(path)).toHaveLength(half);
    expect(faults).toEqual([]);
  });

  it('refuses a backlog that is too large for memory, and recovers', async () => {
    const { clock, faults, news, playback } = await start();
    const minute = Buffer.alloc(60 * RATE_HZ * 2);
    expect(playback.write(minute).from).toBe(START_MS);
    for (let i = 0; i < 3; i++) expect(playback.write(minute).from).toBe(START_MS + 60_000);
    // Not during a write.
    expect(faults).toHaveLength(0);
    await clock.elapse(0);
    expect(faults).toHaveLength(1);
    expect(faults[0]?.message).toMatch(/more than 60 s of sound is waiting/);
    clock.advance(30_000);
    expect(playback.write(makeNumbered(2400)).from).toBe(START_MS + 60_000);
    await clock.elapse(0);
    expect(faults).toHaveLength(1);
    expect(news).toEqual(['fault', 'back']);
    await playback.close();
  });

  it('leaves a readable file when the process is killed during a write', async () => {
    const folder = makeFolder();
    const bundle = join(folder, 'writer.mjs');
    const path = join(folder, 'out.wav');
    await bundleWriter(folder, bundle, path);
    for (const afterMs of [130, 370, 555]) {
      rmSync(path, { force: true });
      const child = spawn(process.execPath, [bundle], { stdio: ['ignore', 'pipe', 'inherit'] });
      const exited = once(child, 'exit');
      await once(child.stdout, 'data');
      while (soundIn(readFileSync(path).subarray(OWN_HEADER_BYTES)).length < afterMs * SAMPLES_PER_MS)
        await delay(7);
      child.kill('SIGKILL');
      expect((await exited)[1]).toBe('SIGKILL');
      const { pcm } = await loadWav(path, { rateHz: RATE_HZ });
      const dataBytes = readFileSync(path).readUInt32LE(OWN_HEADER_BYTES - 4);
      expect(pcm.length).toBe(dataBytes);
      expect(pcm.length).toBeGreaterThan(100 * SAMPLES_PER_MS);
      // Silence comes before the sound and where the machine paused; no sample is lost or repeated.
      const sound = soundIn(Buffer.from(pcm));
      expect(sound.length).toBeGreaterThan(0);
      expect(sound).toEqual(samplesOf(makeNumbered(sound.length)));
    }
  });
});

function samplesOf(pcm: Buffer): number[] {
  return Array.from({ length: pcm.length / 2 }, (_, at) => pcm.readInt16LE(at * 2));
}

const soundIn = (pcm: Buffer): number[] => samplesOf(pcm).filter((sample) => sample !== 0);

/** A program that plays numbered samples into `path` on the real clock, bundled so that every Node can run it. */
async function bundleWriter(folder: string, outfile: string, path: string): Promise<void> {
  const moduleOf = (name: string) =>
    JSON.stringify(fileURLToPath(new URL(`../../../src/adapters/${name}`, import.meta.url)));
  const program = join(folder, 'writer.ts');
  writeFileSync(
    program,
    `import { createFilePlayback } from ${moduleOf('audio/file-playback.ts')};
     import { createSystemClock } from ${moduleOf('clock.ts')};
     const open = createFilePlayback({ path: ${JSON.stringify(path)}, rateHz: ${RATE_HZ}, maxMs: 60_000, clock: createSystemClock() });
     const playback = await open({ fault: (fault) => { throw new Error(fault.message); } });
     const pcm = Buffer.alloc(${30 * RATE_HZ * 2});
     for (let i = 0; i < pcm.length / 2; i++) pcm.writeInt16LE((i % 30000) + 1, i * 2);
     playback.write(pcm);
     process.stdout.write('playing');`,
  );
  await build({
    entryPoints: [program],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
    logLevel: 'error',
  });
}
