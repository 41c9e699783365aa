/**
 * What a slow or busy machine has to do with a failure. QEMU emulates in real time: where it does not get the processors, or they are
 * too slow, sound is lost and everything is late, which says nothing of what is tested. A failure of that kind is then reported as
 * skipped, with its reason; it never counts as passed, and any other failure stays one.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { Machine } from './machine.ts';

/** How long threads have run, and how long they could have run and had to wait for a processor, since they began. */
export interface Turns {
  readonly ranMs: number;
  readonly waitedMs: number;
}

export interface Strain {
  /** Of the time in which the emulated machine had something to do: how much it waited for a processor. */
  readonly waitedShare: number;
  /** Processor time that a known computation in the machine takes. */
  readonly probeMs: number;
  /** How often a card of the scenario's own programs, which only play or record, ran dry or over in it. */
  readonly ownXruns: number;
}

/** What was thrown could come of a machine that is too slow. */
export class TimingError extends Error {
  override readonly name = 'TimingError';
}

/** A little of it is usual: backend, emulator and broker run beside the machine. */
const MOST_WAITED = 0.25;
/** It takes 1.0 to 1.2 s on the machine of the figures in docs/device.md, as soon as it has booted. */
export const MOST_PROBE_MS = 2400;
const PROBE = 'head -c 16777216 /dev/zero | sha256sum >/dev/null';
/** What plays into the microphone and records the loudspeaker computes next to nothing: where it is late, so is everybody. */
const COUNT_XRUNS =
  'journalctl -q -o cat --no-pager -u speaker -u listener | grep -cE "(under|over)run" || true';
const NO_TURNS: Turns = { ranMs: 0, waitedMs: 0 };
/** How others say that they have waited for too long. */
const LATE = /^after [\d.]+ s still not|guest agent is silent|does not (end|come up|answer)/;

export const percent = (share: number): string => `${Math.round(100 * share)} %`;

/** The reason why a failure in which time counts says nothing; null where it does. */
export function excuse({ waitedShare, probeMs, ownXruns }: Strain): string | null {
  if (ownXruns > 0)
    return `this machine is too slow: the cards of the test’s own player and recorder ran dry or over ${ownXruns} times`;
  if (waitedShare > MOST_WAITED)
    return `this machine is too busy: what emulates had to wait for ${percent(waitedShare)} of the time that it needed`;
  if (probeMs > MOST_PROBE_MS)
    return `this machine is too slow: a computation takes ${Math.round(probeMs)} ms, and may take ${MOST_PROBE_MS}`;
  return null;
}

export const isAboutTime = (error: unknown): boolean =>
  error instanceof TimingError || (error instanceof Error && LATE.test(error.message));

/** For expectations that a machine without time could break. */
export function timed(expectations: () => void): void {
  try {
    expectations();
  } catch (error) {
    throw new TimingError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** All threads of a process; none where it is gone. */
export function turnsOf(pid: number): Turns {
  try {
    return readdirSync(`/proc/${pid}/task`)
      .map((thread) => readTurns(`/proc/${pid}/task/${thread}/schedstat`))
      .reduce((sum, one) => ({ ranMs: sum.ranMs + one.ranMs, waitedMs: sum.waitedMs + one.waitedMs }));
  } catch {
    return NO_TURNS;
  }
}

/** A thread that ends meanwhile counts for nothing. */
function readTurns(file: string): Turns {
  try {
    const [ran = 0, waited = 0] = readFileSync(file, 'latin1').split(' ').map(Number);
    return { ranMs: ran / 1e6, waitedMs: waited / 1e6 };
  } catch {
    return NO_TURNS;
  }
}

/**
 * Of a machine, from now on.
 * @param usualProbeMs what the computation took when it was first asked: one that does not answer any more was not too slow before
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
    // One that was switched off meanwhile counts from zero.
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
        // One that is in an earlier state again counts from zero.
        ownXruns: xruns < earlier ? xruns : xruns - earlier,
      };
    },
  };
}

const between = (before: Turns, now: Turns): Turns => ({
  ranMs: now.ranMs - before.ranMs,
  waitedMs: now.waitedMs - before.waitedMs,
});

/** Since the machine's journal began; none where it does not answer. */
const countXruns = (machine: Pick<Machine, 'sh'>): Promise<number> =>
  machine.sh(COUNT_XRUNS).then(Number, () => 0);

/** By what it has run, not by how long it took: that is the same on a busy machine. null: it does not answer. */
async function probe(machine: Pick<Machine, 'pid' | 'sh'>): Promise<number | null> {
  const before = turnsOf(machine.pid);
  try {
    await machine.sh(PROBE);
  } catch {
    return null;
  }
  return between(before, turnsOf(machine.pid)).ranMs;
}
