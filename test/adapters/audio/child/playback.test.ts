import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runPlayback } from '../../../../src/adapters/audio/child/playback.ts';
import { createCommandPlayback } from '../../../../src/adapters/audio/drivers/command-driver.ts';
import type { Clock } from '../../../../src/ports/clock.ts';
import { durationMs } from '../../../../src/sound/pcm.ts';
import { judgeSound, watchStalls } from '../../../stalls.ts';
import { createVirtualClock } from '../../../virtual-clock.ts';
import { createListener, makeProgram, makeUnready, RATE_HZ, startsOf } from './fake-programs.ts';

const within = { timeout: 60_000, interval: 10 };

/** Plays to a program. `taken` is what it has read, over all its starts. */
function speak(code: string, clock?: Clock) {
  const program = makeProgram(code);
  return speakThrough(program, program, clock);
}
/** @param command is started instead of the program, and then runs it */
async function speakThrough(program: string, command: string, clock?: Clock) {
  const listener = createListener();
  const deps = { ...listener.deps, ...(clock && { clock }) };
  const openPlayback = createCommandPlayback({
    command: [command],
    rateHz: RATE_HZ,
    seed: 1,
    deps,
  });
  const playback = await openPlayback(listener.playbackSink);
  onTestFinished(() => playback.close());
  const taken = (): Buffer =>
    existsSync(`${program}.taken`) ? readFileSync(`${program}.taken`) : Buffer.alloc(0);
  return { ...listener, playback, program, taken };
}
const TAKES = "process.stdin.on('data', (pcm) => fs.appendFileSync(process.argv[1] + '.taken', pcm));";

/** Sound in which each position has its own value; never silent. */
function ramp(ms: number, from = 1): Uint8Array {
  const samples = Int16Array.from({ length: (RATE_HZ * ms) / 1000 }, (_, at) => ((from + at) % 30_000) + 1);
  return new Uint8Array(samples.buffer);
}
/** The system-wide monotonic clock, the same in every process, milliseconds. */
const hrNow = (): number => Number(process.hrtime.bigint()) / 1e6;
const sounding = (taken: Buffer): Buffer => {
  const samples = new Int16Array(
    taken.buffer.slice(taken.byteOffset, taken.byteOffset + (taken.length & ~1)),
  );
  return Buffer.from(samples.filter((sample) => sample !== 0).buffer);
};

describe('a playback program', () => {
  it('gets the sound in real time, bit by bit, after a short silence', async () => {
    const { playback, taken, clock } = await speak(TAKES);
    await sleep(300);
    const sound = ramp(2000);
    const writtenAt = clock.now();
    const { from: heardAt } = playback.write(sound);
    expect(heardAt).toBeGreaterThan(writtenAt);
    expect(heardAt - clock.now()).toBeLessThan(200);
    // It is never far ahead of the audible sound.
    while (clock.now() < heardAt + 1000) {
      const ahead = durationMs(taken().length, RATE_HZ) - (clock.now() - heardAt);
      expect(ahead).toBeLessThan(1200);
      await sleep(50);
    }
    await expect.poll(() => sounding(taken()).length, within).toBe(sound.length);
    expect(sounding(taken()).equals(Buffer.from(sound))).toBe(true);
    expect(taken()[0]).toBe(0);
  });

  it('gets the next sound without a gap, and reports when it is heard', async () => {
    const { playback, taken, clock } = await speak(TAKES);
    await sleep(300);
    const writtenAt = clock.now();
    const { from: first } = playback.write(ramp(300));
    const { from: second } = playback.write(ramp(300, 5000));
    const writtenMs = clock.now() - writtenAt;
    // The clock goes on between the two; silence before the second sound would show.
    expect(second - first).toBeGreaterThan(299.5);
    expect(second - first).toBeLessThan(340 + writtenMs);
    const all = Buffer.concat([ramp(300), ramp(300, 5000)]);
    await expect.poll(() => sounding(taken()).length, within).toBe(all.length);
    const at = taken().indexOf(all.subarray(0, 64));
    expect(
      taken()
        .subarray(at, at + all.length)
        .equals(all),
    ).toBe(true);
  });

  it('gets nothing while there is no sound', async () => {
    const { playback, taken, program } = await speak(TAKES);
    await sleep(300);
    playback.write(ramp(100));
    await expect.poll(() => sounding(taken()).length, within).toBe(ramp(100).length);
    // A program that was suspended reads it later, and then no more.
    const more = async (): Promise<number> => {
      const bytes = taken().length;
      await sleep(500);
      return taken().length - bytes;
    };
    await expect.poll(more, within).toBe(0);
    expect(startsOf(program)).toBe(1);
  });

  it('drops sound at once on a flush, and plays again', async () => {
    const { playback, taken, program, heard, clock } = await speak(TAKES);
    await sleep(300);
    const writtenAt = clock.now();
    playback.write(ramp(20_000));
    await expect.poll(() => sounding(taken()).length, within).toBeGreaterThan(0);
    playback.flush();
    const soundedMs = clock.now() - writtenAt;
    const next = ramp(200, 20_000);
    playback.write(next);
    await expect.poll(() => taken().includes(Buffer.from(next).subarray(0, 64)), within).toBe(true);
    await sleep(400);
    // At most 1.1 s is written ahead.
    expect(durationMs(sounding(taken()).length, RATE_HZ)).toBeLessThan(soundedMs + 1100 + 200 + 500);
    expect(startsOf(program)).toBe(2);
    expect(heard.faults).toEqual([]);
    // A flush without sound changes nothing.
    playback.flush();
    await sleep(200);
    expect(startsOf(program)).toBe(2);
  });

  it('is restarted when it crashes, and then plays the sound that was not heard', async () => {
    const crashing = `let seen = 0; process.stdin.on('data', (pcm) => {
      fs.appendFileSync(process.argv[1] + '.taken', pcm);
      seen += pcm.length;
      if (count === 1 && seen > ${RATE_HZ}) process.exit(3);
    });`;
    const { playback, taken, heard } = await speak(crashing);
    await sleep(300);
    const sound = ramp(1500);
    playback.write(sound);
    await expect.poll(() => heard.faults.map(({ code }) => code), within).toEqual(['failed']);
    await expect.poll(() => heard.backs, within).toBe(1);
    await expect.poll(() => heard.measured.length, within).toBeGreaterThan(0);
    // The end has arrived, and nothing in between is missing.
    await expect.poll(() => taken().includes(Buffer.from(sound).subarray(-64)), within).toBe(true);
    for (let at = 0; at + 320 <= sound.length; at += 320) {
      expect(taken().includes(Buffer.from(sound).subarray(at, at + 32))).toBe(true);
    }
  });

  it('reports as missed the sound of the time when it could not be started', async ({ skip }) => {
    const stalls = watchStalls();
    // A shell script, because it is started many times: it exits for three seconds, then it reads sound.
    const player = makeProgram(
      `const now = Number(process.hrtime.bigint()) / 1e6;
      fs.writeFileSync(process.argv[1] + '.begin', String(now - performance.now()));
      ${TAKES}`,
    );
    const { playback, taken, heard } = await speakThrough(player, makeUnready(player, 3));
    await sleep(300);
    const began = hrNow();
    // Each sample holds its millisecond.
    const sound = Int16Array.from({ length: RATE_HZ * 12 }, (_, at) => Math.floor((at * 1000) / RATE_HZ) + 1);
    playback.write(new Uint8Array(sound.buffer));
    await expect.poll(() => sounding(taken()).length, within).toBeGreaterThan(0);
    // The sound counts from the start of the program, which needs time before it reads.
    const absentMs = Number(readFileSync(`${player}.begin`, 'utf8')) - began;
    const firstMs = sounding(taken()).readInt16LE(0);
    judgeSound(skip, stalls, 1000, () => expect(Math.abs(firstMs - absentMs)).toBeLessThan(2000));
    expect(heard.faults[0]?.message).toMatch(/ended with exit code 1/);
    // Each cause is reported once. On a busy machine the working program may count as hung before it reads. A failing one that needs
    // half a second to exit may count as working: then its exit is reported again.
    const repeated = (): number =>
      heard.faults.length - new Set(heard.faults.map(({ message }) => message)).size;
    await expect.poll(() => heard.backs - repeated(), within).toBe(1);
  });

  it('is killed and restarted when it reads nothing', async () => {
    const clock = createVirtualClock();
    const { playback, heard, program } = await speak(
      `if (count === 1) setInterval(() => {}, 1000); else { ${TAKES} }`,
      clock,
    );
    await expect.poll(() => startsOf(program), within).toBe(1);
    // More than the system's own buffers hold.
    playback.write(ramp(30_000));
    const pass = () => clock.elapse(100);
    await expect
      .poll(() => pass().then(() => heard.faults.map(({ code }) => code)), within)
      .toEqual(['hung']);
    await expect.poll(() => pass().then(() => startsOf(program)), within).toBe(2);
  });

  it('never buffers more than a minute of sound', async () => {
    const { playback, heard } = await speak(TAKES);
    const before = process.memoryUsage().rss;
    const piece = ramp(1000);
    for (let second = 0; second < 3600; second++) playback.write(piece);
    expect(heard.lines).toHaveLength(1);
    expect(heard.lines[0]).toMatch(/more than 60 s/);
    expect(process.memoryUsage().rss - before).toBeLessThan(50 * 2 ** 20);
  });
});

describe('a playback program that reports when it is ready', () => {
  /** A program that opens its device; `said` is its message by the number of its start. Time is virtual. */
  function open(said: (start: number) => string | null) {
    const clock = createVirtualClock();
    const { heard, deps, playbackSink } = createListener();
    let starts = 0;
    const spec = () => {
      const text = said(++starts);
      return { words: ['sh', '-c', text === null ? 'exec sleep 60' : `echo ${text} >&2; exec cat`] };
    };
    const playback = runPlayback(
      {
        device: () => ({ part: 'playback', name: 'hw:0', program: 'sh' }),
        shape: () => ({ rateHz: RATE_HZ, channels: 1 }),
        readiness: {
          read: (line) =>
            line === 'open' ? { kind: 'ready', buffering: { periodFrames: 320, bufferFrames: 1600 } } : null,
        },
        latencyMs: 2,
        spec,
      },
      RATE_HZ,
      playbackSink,
      { ...deps, clock },
      1,
    );
    onTestFinished(() => playback.close());
    return { clock, heard, starts: () => starts };
  }

  it('counts as hung when it never reports, at its start and after a fault', async () => {
    const { clock, heard, starts } = open(() => null);
    await clock.elapse(9900);
    expect(heard.faults).toEqual([]);
    for (let passedMs = 0; passedMs < 120_000; passedMs += 250) await clock.elapse(250);
    expect(heard.faults.map(({ code }) => code)).toEqual(['hung']);
    expect(heard.faults[0]?.message).toMatch(/"hw:0" accepts no sound/);
    expect(starts()).toBeGreaterThan(3);
    expect(heard.backs).toBe(0);
  });

  it('works again when the restarted program is ready and reads sound', async () => {
    const { clock, heard, starts } = open((start) => (start < 3 ? null : 'open'));
    while (starts() < 3) await clock.elapse(100);
    expect(heard.backs).toBe(0);
    await expect.poll(() => clock.elapse(5).then(() => heard.backs), within).toBe(1);
    expect(starts()).toBe(3);
    expect(heard.faults).toHaveLength(1);
  });
});
