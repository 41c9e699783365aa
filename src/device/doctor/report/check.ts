import type { Clock } from '../../../ports/clock.ts';
import type { CheckName, Finding } from '../../../protocol/mqtt/diagnose.ts';
import { type Outcome, problem } from './finding.ts';

/** One result of a check; a check of lanes has one for each lane. */
export type LaneOutcome = Outcome & { readonly lane: string | null };

export interface Check {
  readonly name: CheckName;
  /** Time limit (ms); a check beyond it is a problem. */
  readonly limitMs: number;
  run(): Promise<readonly LaneOutcome[]>;
}

export function about(lane: string | null, outcome: Outcome): LaneOutcome {
  return { ...outcome, lane };
}

/** A check of the whole device. */
export function deviceCheck(name: CheckName, limitMs: number, run: () => Promise<Outcome> | Outcome): Check {
  return { name, limitMs, run: async () => [about(null, await run())] };
}

export interface RunOptions {
  readonly clock: Clock;
  /** Called for each finding in the order of the checks, as soon as all before it are known. */
  tell?(finding: Finding): void;
  /** Ends the report early; the findings so far are returned. */
  readonly abort?: AbortSignal;
}

/** Runs all checks at the same time, each within its limit. Never rejects. */
export async function runChecks(
  checks: readonly Check[],
  { clock, tell = () => {}, abort }: RunOptions,
): Promise<Finding[]> {
  const cancels: (() => void)[] = [];
  let onAbort = (): void => {};
  const aborted = new Promise<null>((resolve) => {
    onAbort = () => resolve(null);
    if (abort?.aborted) onAbort();
    abort?.addEventListener('abort', onAbort, { once: true });
  });
  const running = checks.map((check) => runOne(check, clock, cancels));
  const findings: Finding[] = [];
  try {
    for (const [index, check] of checks.entries()) {
      const outcomes = await Promise.race([running[index] ?? null, aborted]);
      if (outcomes === null) break;
      for (const { lane, verdict, finding, fix, data } of outcomes) {
        const entry = { check: check.name, lane, verdict, finding, fix, data };
        findings.push(entry);
        tell(entry);
      }
    }
  } finally {
    for (const cancel of cancels) cancel();
    // Callers may run several reports with the same signal.
    abort?.removeEventListener('abort', onAbort);
  }
  return findings;
}

async function runOne(check: Check, clock: Clock, cancels: (() => void)[]): Promise<readonly LaneOutcome[]> {
  const late = new Promise<readonly LaneOutcome[]>((resolve) => {
    const seconds = Math.round(check.limitMs / 1000);
    const fix = 'Run it again; if that does not help, restart the machine.';
    const outcome = about(null, problem(`did not finish within ${seconds} s`, fix));
    cancels.push(clock.at(clock.now() + check.limitMs, () => resolve([outcome])));
  });
  try {
    return await Promise.race([check.run(), late]);
  } catch (error) {
    const why = error instanceof Error ? error.message : 'unknown error';
    const fix = 'This is a defect of the doctor: report it.';
    return [about(null, problem(`the check itself failed: ${why}`, fix))];
  }
}

/** Returns a function that runs `act` only at its first call. */
export function once<T>(act: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | null = null;
  return () => {
    done ??= act();
    return done;
  };
}
