/**
 * Decides whether a slow or busy host caused a failure. QEMU emulates in real time: without enough processor time, sound is lost and
 * everything is late, which says nothing about the tested program. Such a failure is reported as skipped, with the reason. It never
 * counts as passed, and all other failures stay failures.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { Machine } from './machine.ts';

/** Run time of threads, and the time that they waited for a processor, since they began. */
export interface Turns {
  readonly ranMs: number;
  readonly waitedMs: number;
}

export interface Strain {
  /** Share of the emulated machine's busy time in which it waited for a processor. */
  readonly waitedShare: number;
  /** Processor time that a known computation in the machine takes. */
  readonly probeMs: number;
  /** Number of xruns of the scenario's own programs, which only play or record. */
  readonly ownXruns: number;
}

/** An error that a slow machine may have caused. */
export class TimingError extends Error {
  override readonly name = 'TimingError';
}

/** Largest normal share of waiting: backend, emulator and broker run beside the machine. */
const MOST_WAITED = 0.25;
/** Longest normal time of the computation (ms). The machine of docs/device.md needs 1.0 to 1.2 s after booting. */
export const MOST_PROBE_MS = 2400;
const PROBE = 'head -c 16777216 /dev/zero | sha256sum >/dev/null';
/** Counts xruns of the test's player and recorder. They need almost no processor time: if they are late, the machine is too slow. */
const COUNT_XRUNS =
  'journalctl -q -o cat --no-pager -u speaker -u listener | grep -cE "(under|over)run" || true';
const NO_TURNS: Turns = { ranMs: 0, waitedMs: 0 };
/** Messages of other errors that mean a timeout. */
const LATE = /^after [\d.]+ s still not|guest agent is silent|does not (end|come up|answer)/;

export const percent = (share: number): string => `${Math.round(100 * share)} %`;

/** The excuse for a failure that depends on time; null if there is none. */
export function excuse({ waitedShare, probeMs, ownXruns }: Strain): string | null {
  if (ownXruns > 0)
    return `this machine is too slow: the cards of the test’s own player and recorder ran dry or over ${ownXruns} times`;
  if (waitedShare > MOST_WAITED)
    return `this machine is too busy: QEMU waited for ${percent(waitedShare)} of the processor time that it needed`;
  if (probeMs > MOST_PROBE_MS)
    return `this machine is too slow: a computation takes ${Math.round(probeMs)} ms, and may take ${MOST_PROBE_MS}`;
  return null;
}

export const isAboutTime = (error: unknown): boolean =>
  error instanceof TimingError || (error instanceof Error && LATE.test(error.message));

/** Checks expectations that a slow machine could break. */
export function timed(expectations: () => void): void {
  try {
    expectations();
  } catch (error) {
    throw new TimingError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** Turns of all threads of a process; zero if it is gone. */
export function turnsOf(pid: number): Turns {
  try {
    return readdirSync(`/proc/${pid}/task`)
      .map((thread) => readTurns(`/proc/${pid}/task/${thread}/schedstat`))
      .reduce((sum, one) => ({ ranMs: sum.ranMs + one.ranMs, waitedMs: sum.waitedMs + one.waitedMs }));
  } catch {
    return NO_TURNS;
  }
}

/** Turns of one thread; zero if it has ended. */
function readTurns(file: string): Turns {
  try {
    const [ran = 0, waited = 0] = readFileSync(file, 'latin1').split(' ').map(Number);
    return { ranMs: ran / 1e6, waitedMs: waited / 1e6 };
  } catch {
    return NO_TURNS;
  }
}

/**
 * Watches the strain of a machine from now on.
 * @param usualProbeMs first time of the computation, used for a machine that no longer answers
 */
export async function watchStrain(
  machine: Pick<Machine, 'pid' | 'sh'>,
  usualProbeMs: number = Number.POSITIVE_INFINITY,
) {
  const { pid } = machine;
  const before = turnsOf(pid);
  const earlier = await countXruns(machine);
  const waited = (): number => {
    const now = turnsOf(machine.pid);
    // After a power-off the new QEMU counts from zero.
    const { ranMs, waitedMs } = machine.pid === pid ? between(before, now) : now;
    return waitedMs / Math.max(1, ranMs + waitedMs);
  };
  return {
    waited,
    measure: async (): Promise<Strain> => {
      const xruns = await countXruns(machine);
      return {
        waitedShare: waited(),
        probeMs: (await probe(machine)) ?? usualProbeMs,
        // After loading an earlier state the journal counts from zero.
        ownXruns: xruns < earlier ? xruns : xruns - earlier,
      };
    },
  };
}

const between = (before: Turns, now: Turns): Turns => ({
  ranMs: now.ranMs - before.ranMs,
  waitedMs: now.waitedMs - before.waitedMs,
});

/** Xruns since the machine's journal began; zero if it does not answer. */
const countXruns = (machine: Pick<Machine, 'sh'>): Promise<number> =>
  machine.sh(COUNT_XRUNS).then(Number, () => 0);

/** Processor time of the computation, which does not depend on other load; null if the machine does not answer. */
async function probe(machine: Pick<Machine, 'pid' | 'sh'>): Promise<number | null> {
  const before = turnsOf(machine.pid);
  try {
    await machine.sh(PROBE);
  } catch {
    return null;
  }
  return between(before, turnsOf(machine.pid)).ranMs;
}
