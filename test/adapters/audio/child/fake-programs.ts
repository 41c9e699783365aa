import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSystemClock } from '../../../../src/adapters/clock.ts';
import type { AudioFault } from '../../../../src/ports/audio.ts';
import type { Log } from '../../../../src/ports/log.ts';
import { makeFolder } from '../wav-files.ts';

/** Rate of the sound (Hz), lower than any of the service's, so that a busy machine keeps up. */
export const RATE_HZ = 16_000;

/** Writes a program in JavaScript; returns its path. */
export function makeProgram(code: string, folder = makeFolder(), name = 'program'): string {
  const path = join(folder, name);
  // A module without a package beside it is CommonJS.
  writeFileSync(path, `#!${process.execPath}\n${PRELUDE}\n${code}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** Writes a program that prints a message and exits. A shell script, because it may be started many times. Returns its path. */
export function makeFailing(words: string): string {
  const path = join(makeFolder(), 'program');
  writeFileSync(path, `#!/bin/sh\ncat >&2 <<'END'\n${words}\nEND\nexit 1\n`);
  chmodSync(path, 0o755);
  return path;
}

/** Writes a program that fails for this many seconds from its first start, and then runs another program. Returns its path. */
export function makeUnready(program: string, seconds: number): string {
  const path = `${program}.unready`;
  const lines = [
    '[ -e "$0.first" ] || date +%s%N >"$0.first"',
    'passed=$(($(date +%s%N) - $(cat "$0.first")))',
  ];
  const rest = [`[ "$passed" -lt ${seconds * 1e9} ] && exit 1`, `exec '${program}'`];
  writeFileSync(path, `${['#!/bin/sh', ...lines, ...rest].join('\n')}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** `deliver(speed)`: pieces of 20 ms by the clock, each sample its own number; `count` and `note` survive a restart. */
const PRELUDE = `
const fs = require('node:fs');
const state = process.argv[1] + '.state';
const count = (fs.existsSync(state) ? fs.readFileSync(state).length : 0) + 1;
fs.appendFileSync(state, '.');
const deliver = (speed = 1, pieces = Infinity) => {
  const startedAt = performance.now();
  const seen = fs.openSync(state + '.' + count, 'w');
  let made = 0;
  const timer = setInterval(() => {
    fs.writeSync(seen, String(process.hrtime.bigint()).padEnd(24), 0);
    const due = Math.min(pieces, Math.floor(((performance.now() - startedAt) * speed) / 20));
    for (; made < due; made++) process.stdout.write(Buffer.alloc(${(RATE_HZ / 50) * 2}, made % 251 + 1));
    if (made >= pieces) clearInterval(timer);
  }, 5);
};`;

/** How often a program was started. */
export const startsOf = (program: string): number =>
  existsSync(`${program}.state`) ? readFileSync(`${program}.state`).length : 0;

/** How long the running program has not delivered, milliseconds; 0 when it has not begun. */
export function quietMs(program: string): number {
  const path = `${program}.state.${startsOf(program)}`;
  const seen = existsSync(path) ? readFileSync(path, 'latin1').trim() : '';
  return seen === '' ? 0 : Number(process.hrtime.bigint() - BigInt(seen)) / 1e6;
}

export interface Heard {
  readonly pieces: { pcm: Uint8Array; capturedAt: number; at: number }[];
  readonly faults: AudioFault[];
  readonly lines: string[];
  readonly measured: number[];
  missedMs: number;
  backs: number;
}

/** Records everything that a driver reports. */
export function createListener() {
  const clock = createSystemClock();
  const heard: Heard = { pieces: [], faults: [], lines: [], measured: [], missedMs: 0, backs: 0 };
  const note = (_fields: object, sentence: string): void => void heard.lines.push(sentence);
  const log: Log = { trace() {}, debug() {}, info: note, warn: note, error: note };
  return {
    clock,
    heard,
    deps: { clock, log },
    captureSink: {
      frames: (pcm: Uint8Array, capturedAt: number) =>
        void heard.pieces.push({ pcm, capturedAt, at: clock.now() }),
      ended() {},
      fault: (fault: AudioFault) => void heard.faults.push(fault),
    },
    playbackSink: {
      fault: (fault: AudioFault) => void heard.faults.push(fault),
      back: () => void heard.backs++,
      missed(ms: number): void {
        heard.missedMs += ms;
      },
      measured: (until: number) => void heard.measured.push(until),
    },
  };
}

export const isAlive = (pid: number): boolean => {
  try {
    // A zombie that was not waited for yet is dead.
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'));
  } catch {
    return false;
  }
};
