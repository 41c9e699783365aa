import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { findProgram } from '../../../../src/adapters/audio/child/find-program.ts';
import { createCommandCapture } from '../../../../src/adapters/audio/drivers/command-driver.ts';
import type { AudioFault } from '../../../../src/ports/audio.ts';
import { needs } from '../../../needs.ts';
import { judgeSound, type Stalls, watchStalls } from '../../../stalls.ts';
import { makeFolder } from '../wav-files.ts';
import { buildAgent } from './agent-program.ts';
import {
  createListener,
  isAlive,
  makeFailing,
  makeProgram,
  quietMs,
  RATE_HZ,
  startsOf,
} from './fake-programs.ts';

/** Captures from a program. `stalls` are the program's own pauses: a paused program counts as hung. */
function hear(code: string, ...words: string[]) {
  return hearProgram(makeProgram(code), words);
}
async function hearProgram(program: string, words: readonly string[] = []) {
  const listener = createListener();
  const own = watchStalls();
  const hung: number[] = [];
  const sink = {
    ...listener.captureSink,
    fault(fault: AudioFault) {
      if (fault.code === 'hung') hung.push(quietMs(program));
      listener.captureSink.fault(fault);
    },
  };
  const command = [program, ...words];
  const openCapture = createCommandCapture({ command, rateHz: RATE_HZ, seed: 1, deps: listener.deps });
  const capture = await openCapture(sink);
  onTestFinished(() => capture.close());
  const stalls: Stalls = { ms: () => own.ms(), longestMs: () => Math.max(own.longestMs(), ...hung) };
  return { ...listener, capture, program, stalls };
}
const within = { timeout: 60_000, interval: 20 };
/** Half of the silence after which a program counts as hung. */
const LONG_STALL_MS = 1000;

describe('a capture program', () => {
  it('delivers every sample with its capture time', async ({ skip }) => {
    const { heard, capture, stalls } = await hear('deliver();');
    await expect.poll(() => heard.pieces.length, within).toBeGreaterThan(20);
    await capture.close();
    const bytes = Buffer.concat(heard.pieces.map(({ pcm }) => pcm));
    const perPiece = (RATE_HZ / 50) * 2;
    judgeSound(skip, stalls, LONG_STALL_MS, () => {
      for (let at = 0; at < bytes.length; at += perPiece) expect(bytes[at]).toBe(((at / perPiece) % 251) + 1);
    });
    const times = heard.pieces.map(({ capturedAt }) => capturedAt);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    for (const { at, capturedAt } of heard.pieces) expect(capturedAt).toBeLessThanOrEqual(at);
    const count = heard.pieces.length;
    await sleep(100);
    expect(heard.pieces.length).toBe(count);
  });

  it('gets its arguments unchanged, without a shell', async () => {
    const { program } = await hear(
      "fs.writeFileSync(process.argv[1] + '.words', JSON.stringify([process.argv.slice(2), process.env.LC_ALL])); deliver();",
      'a b',
      '$HOME; exit',
    );
    const words = () => {
      try {
        return JSON.parse(readFileSync(`${program}.words`, 'utf8')) as unknown;
      } catch {
        return null;
      }
    };
    await expect.poll(words, within).toEqual([['a b', '$HOME; exit'], 'C']);
  });

  it('is restarted when it crashes, with one fault, and delivers again', async () => {
    const { heard, program, capture } = await hear(
      "if (count < 4) { console.error('main:12: it broke \\x1b[31m'); process.exit(7); } deliver();",
    );
    await expect.poll(() => heard.pieces.length, within).toBeGreaterThan(3);
    expect(startsOf(program)).toBe(4);
    expect(heard.faults).toHaveLength(1);
    expect(heard.faults[0]?.code).toBe('failed');
    expect(heard.faults[0]?.message).toMatch(
      /exit code 7 after saying "main:12: it broke \[31m"; it is started again$/,
    );
    expect(heard.lines.at(-1)).toBe('the capture device works again');
    expect(capture.figures).toMatchObject({ starts: 4, failures: 3 });
  });

  it('is killed and restarted when it hangs', async () => {
    const { heard, capture } = await hear(
      "if (count === 1) { deliver(1, 5); process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); } else deliver();",
    );
    await expect.poll(() => heard.faults.length, within).toBe(1);
    expect(heard.faults[0]).toMatchObject({
      code: 'hung',
      message: expect.stringContaining('delivers nothing'),
    });
    const count = heard.pieces.length;
    await expect.poll(() => heard.pieces.length, within).toBeGreaterThan(count);
    expect(capture.figures?.hangs).toBe(1);
  });

  it('is killed when it delivers faster than real time, and its flood is limited', async () => {
    const { heard } = await hear(
      "if (count > 1) deliver(); else { const flood = () => { while (process.stdout.write(Buffer.alloc(65536, 1))); }; process.stdout.on('drain', flood); flood(); }",
    );
    await expect.poll(() => heard.faults.map(({ code }) => code), within).toEqual(['too_fast']);
    const seconds = heard.pieces.reduce((sum, { pcm }) => sum + pcm.byteLength, 0) / 2 / RATE_HZ;
    expect(seconds).toBeLessThan(20);
    await expect.poll(() => heard.lines.at(-1), within).toBe('the capture device works again');
  });

  it('may write endless messages; the agent reads only a few', async ({ skip }) => {
    const { heard, stalls } = await hear(
      "deliver(); const nag = () => { while (process.stderr.write('overrun!!! (at least 1.0 ms long)\\n'.repeat(500))); }; process.stderr.on('drain', nag); nag();",
    );
    await expect.poll(() => heard.pieces.length, within).toBeGreaterThan(20);
    judgeSound(skip, stalls, LONG_STALL_MS, () => {
      expect(heard.faults).toEqual([]);
      expect(heard.lines.length).toBeLessThan(5);
    });
  });

  it.each([
    ['audio open error: No such device', 'not_found'],
    ['audio open error: Device or resource busy', 'busy'],
    ['audio open error: Permission denied', 'failed'],
    ['pcm_read:2221: read error: No such device', 'lost'],
    ['set_params:1339: Sample format non available', 'format'],
  ])('explains its last line: %s', async (words, code) => {
    const { heard } = await hearProgram(makeFailing(words));
    await expect.poll(() => heard.faults.map((fault) => fault.code), within).toEqual([code]);
  });

  it('is reported when it is not installed, and tried again', async () => {
    const { heard, deps, captureSink } = createListener();
    const command = ['/nonexistent/recorder'];
    const capture = await createCommandCapture({ command, rateHz: RATE_HZ, seed: 1, deps })(captureSink);
    onTestFinished(() => capture.close());
    await expect.poll(() => heard.faults.length, within).toBe(1);
    expect(heard.faults[0]?.message).toMatch(/"\/nonexistent\/recorder" is not installed; install it/);
    await expect.poll(() => capture.figures?.failures, within).toBeGreaterThan(2);
  });
});

const missing = findProgram('setpriv') === null ? 'no setpriv (util-linux)' : null;
describe(`a killed agent${missing === null ? '' : `: skipped, ${missing}`}`, needs(missing), () => {
  const agents = new Set<ChildProcess>();
  afterEach(() => {
    for (const agent of agents) agent.kill('SIGKILL');
    agents.clear();
  });

  it('leaves no child process, even one that never touches its pipe', async () => {
    const folder = makeFolder();
    const child = makeProgram(
      "fs.writeFileSync(process.argv[1] + '.pid', String(process.pid)); process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);",
      folder,
    );
    const agent = await buildAgent(folder);
    const started = spawn(process.execPath, [agent, child], { stdio: 'ignore' });
    agents.add(started);
    const pid = (): number => {
      try {
        return Number(readFileSync(`${child}.pid`, 'utf8'));
      } catch {
        return 0;
      }
    };
    await expect.poll(pid, within).toBeGreaterThan(0);
    expect(isAlive(pid())).toBe(true);
    started.kill('SIGKILL');
    await once(started, 'exit');
    await expect.poll(() => isAlive(pid()), within).toBe(false);
  });
});
