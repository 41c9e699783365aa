/** Devices that are slow to open. Time is virtual, so the programs show their progress by files. */
import { chmodSync, existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { createAddonCapture, createAddonPlayback } from '../../../../src/adapters/audio/addon/driver.ts';
import { READY_LINE } from '../../../../src/adapters/audio/addon/wire.ts';
import { createAlsaPlayback } from '../../../../src/adapters/audio/alsa/aplay.ts';
import { createAlsaCapture } from '../../../../src/adapters/audio/alsa/arecord.ts';
import { createStartLimit } from '../../../../src/adapters/audio/child/start-limit.ts';
import {
  createCommandCapture,
  createCommandPlayback,
} from '../../../../src/adapters/audio/drivers/command-driver.ts';
import type { Capture, OpenCapture, OpenPlayback, Playback } from '../../../../src/ports/audio.ts';
import { createVirtualClock, type VirtualClock } from '../../../virtual-clock.ts';
import { makeFolder } from '../wav-files.ts';
import { createListener, makeProgram, RATE_HZ } from './fake-programs.ts';

const within = { timeout: 60_000, interval: 10 };
const path = process.env['PATH'];
afterEach(() => {
  process.env['PATH'] = path;
});

const DRIVERS = ['alsa', 'command', 'addon'] as const;
type Driver = (typeof DRIVERS)[number];
/** The watchdog may be this much late (milliseconds). */
const SLACK_MS = 700;
/** Longest wait before a failed program is started again (milliseconds). */
const LONGEST_WAIT_MS = 5000;

const READY: Readonly<Record<Driver, string>> = {
  alsa: `process.stderr.write('channels : 1\\nrate : ${RATE_HZ}\\nbuffer_size : 1600\\nperiod_size : 320\\n');`,
  command: '',
  addon: `process.stderr.write('${READY_LINE}\\n');`,
};
const DELIVERS = 'process.stdout.write(Buffer.alloc(640, 7));';
const TAKES = "process.stdin.on('data', (pcm) => fs.appendFileSync(program + '.taken', pcm));";

/**
 * Writes a program that waits for a file beside it, then acts; returns its path. It waits as a shell script where possible: most
 * programs are killed while they wait, and starting Node would take as long as a whole test.
 */
function makeWaiting(driver: Driver, name: string, doing: string): string {
  const place = (folder: string): string => `const program = ${JSON.stringify(join(folder, name))};`;
  const opened = "fs.writeFileSync(program + '.opened', ''); setInterval(() => {}, 1000);";
  const folder = makeFolder();
  if (driver === 'addon') {
    const wait = `const go = setInterval(() => { if (!fs.existsSync(program + '.open')) return; clearInterval(go); ${doing} ${opened} }, 5);`;
    return makeProgram(`${place(folder)} ${wait}`, folder, name);
  }
  const node = makeProgram(`${place(folder)} ${doing} ${opened}`, folder, 'opened.cjs');
  const program = join(folder, name);
  writeFileSync(program, `#!/bin/sh\nuntil [ -e "$0.open" ]; do sleep 0.02; done\nexec '${node}'\n`);
  chmodSync(program, 0o755);
  return program;
}

/** Waits in real time for the program, without virtual time passing. */
const comes = (clock: VirtualClock, read: () => number) =>
  expect.poll(() => clock.elapse(0).then(read), within).toBeGreaterThan(0);

/** A device that a program may open once it has run for `needsMs`. */
async function slow<Device extends Capture | Playback>(
  driver: Driver,
  needsMs: number,
  given: { readonly name: string; readonly doing: string },
  create: (
    program: string,
    listener: ReturnType<typeof createListener>,
    clock: VirtualClock,
  ) => Promise<Device>,
) {
  const clock = createVirtualClock();
  const listener = createListener();
  const names = { alsa: given.name, command: 'program', addon: 'addon.cjs' };
  const program = makeWaiting(driver, names[driver], given.doing);
  process.env['PATH'] = `${dirname(program)}:${path}`;
  const device = await create(program, listener, clock);
  onTestFinished(() => device.close());
  const starts: number[] = [clock.now()];
  const mayOpen = `${program}.open`;
  return {
    clock,
    device,
    program,
    starts,
    heard: listener.heard,
    /** Advances time until the program may open its device. @returns whether that happened */
    async untilOpen(mostMs: number, meanwhile = (): void => {}): Promise<boolean> {
      for (const end = clock.now() + mostMs; clock.now() < end; ) {
        meanwhile();
        await clock.elapse(50);
        const { starts: begun = 0, failures = 0 } = device.figures ?? {};
        if (begun > starts.length) starts.push(clock.now());
        if (begun > failures && clock.now() - (starts.at(-1) ?? 0) >= needsMs) {
          writeFileSync(mayOpen, '');
          // On a busy machine the program may not even have begun.
          await comes(clock, () => Number(existsSync(`${program}.opened`)));
          return true;
        }
      }
      return false;
    },
    close: () => rmSync(mayOpen, { force: true }),
  };
}

function slowMicrophone(driver: Driver, needsMs: number) {
  const recorder = { name: 'arecord', doing: DELIVERS };
  return slow(driver, needsMs, recorder, (program, { deps, captureSink }, clock) => {
    const options = { rateHz: RATE_HZ, seed: 1, deps: { ...deps, clock } };
    const open: Readonly<Record<Driver, () => OpenCapture>> = {
      alsa: () => createAlsaCapture({ ...options, device: 'plughw:CARD=Mic' }),
      command: () => createCommandCapture({ ...options, command: [program] }),
      addon: () => createAddonCapture({ ...options, device: 'plughw:CARD=Mic', script: program }),
    };
    return open[driver]()(captureSink);
  });
}

function slowLoudspeaker(driver: Driver, needsMs: number) {
  const player = { name: 'aplay', doing: `${READY[driver]} ${TAKES}` };
  return slow(driver, needsMs, player, (program, { deps, playbackSink }, clock) => {
    const options = { rateHz: RATE_HZ, seed: 1, deps: { ...deps, clock } };
    const open: Readonly<Record<Driver, () => OpenPlayback>> = {
      alsa: () => createAlsaPlayback({ ...options, device: 'plughw:CARD=Speaker' }),
      command: () => createCommandPlayback({ ...options, command: [program] }),
      addon: () => createAddonPlayback({ ...options, device: 'plughw:CARD=Speaker', script: program }),
    };
    return open[driver]()(playbackSink);
  });
}

describe.each(DRIVERS)('a slow microphone with the driver %s', (driver) => {
  it('has ten seconds to open', async () => {
    const { clock, starts, heard, untilOpen } = await slowMicrophone(driver, 9900);
    expect(await untilOpen(60_000)).toBe(true);
    await comes(clock, () => heard.pieces.length);
    expect(starts).toHaveLength(1);
    expect(heard.faults).toEqual([]);
  });

  it('has more time with each attempt, and a fault in the meantime', async () => {
    const { clock, device, starts, heard, untilOpen, close } = await slowMicrophone(driver, 30_000);
    expect(await untilOpen(120_000)).toBe(true);
    expect(starts).toHaveLength(3);
    expect((starts[1] ?? 0) - (starts[0] ?? 0)).toBeGreaterThan(10_000);
    expect((starts[1] ?? 0) - (starts[0] ?? 0)).toBeLessThan(10_000 + SLACK_MS + LONGEST_WAIT_MS);
    expect(heard.faults.map(({ code }) => code)).toEqual(['hung']);
    await comes(clock, () => heard.pieces.length);
    expect(heard.lines.at(-1)).toBe('the capture device works again');

    // It has delivered sound: the next start has ten seconds again.
    close();
    while (device.figures?.starts === 3) await clock.elapse(50);
    const again = clock.now();
    while (device.figures?.starts === 4) await clock.elapse(50);
    expect(clock.now() - again).toBeGreaterThan(10_000);
    expect(clock.now() - again).toBeLessThan(10_000 + SLACK_MS + LONGEST_WAIT_MS);
  });

  it('never has more than 40 s to open', async () => {
    const { starts, untilOpen } = await slowMicrophone(driver, 60_000);
    expect(await untilOpen(300_000)).toBe(false);
    const tries = starts.slice(1).map((at, index) => at - (starts[index] ?? 0));
    expect(Math.max(...tries)).toBeLessThan(40_000 + SLACK_MS + LONGEST_WAIT_MS);
    expect(Math.min(...tries.slice(2))).toBeGreaterThan(40_000);
  });
});

const sizeOf = (file: string): number => (existsSync(file) ? statSync(file).size : 0);

describe.each(['alsa', 'addon'] as const)('a slow loudspeaker with the driver %s', (driver) => {
  it('has ten seconds to open', async () => {
    const { clock, device, program, starts, heard, untilOpen } = await slowLoudspeaker(driver, 9900);
    expect(await untilOpen(60_000)).toBe(true);
    device.write(new Uint8Array(6400).fill(9));
    await comes(clock, () => sizeOf(`${program}.taken`));
    expect(starts).toHaveLength(1);
    expect(heard.faults).toEqual([]);
  });

  it('has more time with each attempt, and a fault in the meantime', async () => {
    const { clock, device, program, starts, heard, untilOpen } = await slowLoudspeaker(driver, 30_000);
    expect(await untilOpen(120_000, () => expect(heard.backs).toBe(0))).toBe(true);
    expect(starts).toHaveLength(3);
    expect(heard.faults.map(({ code }) => code)).toEqual(['hung']);
    device.write(new Uint8Array(6400).fill(9));
    await comes(clock, () => sizeOf(`${program}.taken`));
  });
});

describe('a loudspeaker whose program never reports that it is open', () => {
  it.each([
    [9000, 3],
    [30_000, 5],
  ])('opens in %d ms although sound is being written, at start %d', async (needsMs, last) => {
    const { clock, device, program, starts, heard, untilOpen } = await slowLoudspeaker('command', needsMs);
    const speak = (): void => void device.write(new Uint8Array((RATE_HZ / 20) * 2).fill(9));
    expect(await untilOpen(150_000, speak)).toBe(true);
    // Each start that missed counts once, however long its program takes to end.
    expect(starts).toHaveLength(last);
    expect(heard.faults.every(({ code }) => code === 'hung')).toBe(true);
    for (let passed = 0; sizeOf(`${program}.taken`) === 0 && passed < 60_000; passed += 50) {
      speak();
      await clock.elapse(50);
      await sleep(10);
    }
    expect(sizeOf(`${program}.taken`)).toBeGreaterThan(0);
  });
});

it('gives extra time to open only after two failed starts in a row', () => {
  const limit = createStartLimit();
  const headStarts = Array.from({ length: 5 }, () => {
    limit.missed();
    return limit.headStartMs;
  });
  expect(headStarts).toEqual([0, 10_000, 20_000, 40_000, 40_000]);
  limit.met();
  limit.missed();
  expect(limit.headStartMs).toBe(0);
});
