import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  countRestarts,
  expectRestart,
  NO_RESTARTS,
  type RestartFacts,
} from '../../core/update/restart-count.ts';
import type { Clock } from '../../ports/clock.ts';
import type { AgentUnit, Sighting } from '../../ports/update.ts';
import { parseJson } from '../../protocol/common/json.ts';
import { type RunningNote, runningNoteSchema } from '../../protocol/running-note.ts';
import { readBounded } from '../bounded-file.ts';
import { noteName } from '../running-note.ts';
import { systemCode } from '../system-error.ts';
import { RESTART_FILE } from './order-files.ts';
import { runProgram } from './run-program.ts';

const SYSTEMCTL_LIMIT_MS = 30_000;
/** Timeout for the current sentence and the end of the session (ms): the agent needs 10 s at most. */
const END_WITHIN_MS = 15_000;
const LOOK_EACH_MS = 200;
/** Preferred minimum span of a measurement (ms), because each message to systemd makes the agent read 20 kB. */
const MEASURED_MS = 10_000;
/** Larger than any note (bytes). */
const MOST_NOTE = 262_144;
const MOST_PID = 16;

export interface UnitPlaces {
  /** The agent's unit. */
  readonly unit: string;
  /** The agent's folder in memory, in which it leaves its note. */
  readonly runtime: string;
  /** The folder that contains the kernel's `proc` and `sys`. */
  readonly kernel: string;
}

interface Unit extends RestartFacts {
  readonly active: boolean;
}

/** The agent's unit, as systemd, the kernel and the agent's own note describe it. */
export function createAgentUnit({ unit, runtime, kernel }: UnitPlaces, clock: Clock): AgentUnit {
  let count = NO_RESTARTS;
  /** Bytes read by one process; oldest first. The first is the most recent one that is old enough to measure by. */
  let samples: { readonly pid: number; readonly at: number; readonly bytes: number }[] = [];

  const show = async (): Promise<Unit> => {
    const words = ['show', '-p', 'ActiveState,MainPID,NRestarts', unit];
    const { stdout } = await runProgram('systemctl', words, { limitMs: SYSTEMCTL_LIMIT_MS });
    const field = (name: string): string => new RegExp(`^${name}=(.*)$`, 'm').exec(stdout)?.[1] ?? '';
    const state = field('ActiveState');
    return {
      active: state === 'active' || state === 'reloading',
      pid: Number(field('MainPID')),
      restarts: Number(field('NRestarts')),
      asked: readAsked(runtime),
    };
  };
  /** Bytes per second that a process has read lately, also from sound cards and pipes; null: not known. */
  const readsOf = async (pid: number): Promise<number | null> => {
    const text = await readFile(join(kernel, 'proc', String(pid), 'io'), 'utf8').catch(() => '');
    const [, found] = /^rchar: (\d+)$/m.exec(text) ?? [];
    if (pid === 0 || found === undefined) return null;
    const now = { pid, at: clock.now(), bytes: Number(found) };
    samples = [...samples.filter((sample) => sample.pid === pid), now];
    while (now.at - (samples[1] ?? now).at >= MEASURED_MS) samples = samples.slice(1);
    const [before = now] = samples;
    return now.at - before.at < LOOK_EACH_MS
      ? null
      : ((now.bytes - before.bytes) * 1000) / (now.at - before.at);
  };
  const signal = (pid: number, name: NodeJS.Signals | 0): boolean => {
    try {
      return process.kill(pid, name);
    } catch {
      return false;
    }
  };

  return {
    async look() {
      const unitState = await show();
      const { active, pid } = unitState;
      const counted = countRestarts(count, unitState);
      count = counted.count;
      const note = readNote(runtime, pid);
      return {
        active,
        restarts: counted.unasked,
        readsPerS: await readsOf(pid),
        network: await hasNetwork(kernel),
        ...toldBy(note),
      };
    },
    async restart() {
      const unit = await show();
      const { pid } = unit;
      count = expectRestart(unit);
      samples = [];
      // systemd starts it again (Restart=always), so the updater needs no right to control units.
      if (pid === 0 || !signal(pid, 'SIGTERM')) {
        count = { ...count, expected: unit.restarts };
        return;
      }
      for (const end = clock.now() + END_WITHIN_MS; signal(pid, 0); ) {
        if (clock.now() > end) signal(pid, 'SIGKILL');
        await new Promise<void>((resolve) => void clock.at(clock.now() + LOOK_EACH_MS, resolve));
      }
    },
  };
}

function toldBy(note: RunningNote | null): Omit<Sighting, 'active' | 'restarts' | 'readsPerS' | 'network'> {
  const reasons = note?.reasons ?? [];
  return {
    reports: note !== null,
    usable: note?.problem === null,
    problem: note?.problem ?? null,
    broker: note?.broker === true,
    backend: note?.broker === true && !reasons.includes('no_backend'),
    deaf: reasons.filter((reason) => reason.startsWith('capture:')).map((reason) => reason.slice(8)),
  };
}

/** The note belongs to the agent's user, so its content is not trusted. */
function readNote(runtime: string, pid: number): RunningNote | null {
  try {
    const text = readBounded(join(runtime, noteName(pid)), MOST_NOTE)?.toString() ?? 'null';
    const note = runningNoteSchema.safeParse(parseJson(text));
    return note.success && note.data.pid === pid ? note.data : null;
  } catch {
    return null;
  }
}

/** The id of the process that an operator ordered to restart, as the agent reports it. */
function readAsked(runtime: string): number | null {
  try {
    const pid = Number(readBounded(join(runtime, RESTART_FILE), MOST_PID)?.toString());
    return Number.isInteger(pid) && pid > 0 ? pid : null;
  } catch {
    return null;
  }
}

/** Whether an interface other than the loopback has a carrier. */
async function hasNetwork(kernel: string): Promise<boolean> {
  const folder = join(kernel, 'sys/class/net');
  const names = await readdir(folder).catch((error: unknown) => {
    if (systemCode(error) === null) throw error;
    return [];
  });
  for (const name of names.filter((one) => one !== 'lo')) {
    const carrier = await readFile(join(folder, name, 'carrier'), 'utf8').catch(() => '0');
    if (carrier.trim() === '1') return true;
  }
  return false;
}
