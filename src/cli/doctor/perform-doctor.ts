import { statSync } from 'node:fs';
import { loadConfig } from '../../adapters/config/load.ts';
import { KERNEL_FOLDERS } from '../../adapters/kernel.ts';
import { runningWith } from '../../adapters/state-file.ts';
import { systemCode } from '../../adapters/system-error.ts';
import { createExamination } from '../../device/doctor/examination.ts';
import { createMachineParts } from '../../device/doctor/machine-parts.ts';
import { runChecks } from '../../device/doctor/report/check.ts';
import { diagnosisOf, worstOf } from '../../device/doctor/report/finding.ts';
import { readAgentEnvironment } from '../../device/doctor/running-agent/agent-note.ts';
import { findRunningAgents, runsWith } from '../../device/doctor/running-agent/running-agents.ts';
import type { Clock } from '../../ports/clock.ts';
import { EXIT, Failure } from '../../program/problem.ts';
import type { Shell } from '../../program/program.ts';
import type { CheckName } from '../../protocol/mqtt/diagnose.ts';
import { VERSION } from '../../protocol/version.ts';
import { formatDiagnosis, layOutFinding, layOutSummary } from './diagnosis-text.ts';

/** Command-line options. */
export interface DoctorOptions {
  readonly config: string;
  readonly json?: true;
  readonly only: readonly CheckName[];
  /** False with `--no-sound`. */
  readonly sound: boolean;
}

const END_SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Source of signals: the process, or a test. */
export interface Signals {
  once(signal: (typeof END_SIGNALS)[number], listener: () => void): unknown;
  off(signal: (typeof END_SIGNALS)[number], listener: () => void): unknown;
}

/** Checks the device and prints the findings. @param signals end it early; a second signal kills the process */
export async function performDoctor(
  { config: file, json, only, sound }: DoctorOptions,
  shell: Shell,
  clock: Clock,
  signals: Signals = process,
): Promise<void> {
  const env = runningWith(file, asAgent(shell.env, file, KERNEL_FOLDERS.proc));
  if (!exists(file)) {
    throw new Failure(
      `the file ${file} does not exist: give the agent's configuration with --config`,
      EXIT.usage,
    );
  }
  const loaded = loadConfig({ file, env });
  const hasLanes = loaded.ok && loaded.config.lanes.length > 1;
  const examination = createExamination({
    file,
    loaded,
    clock,
    machine: createMachineParts(env),
    only: only.length === 0 ? null : only,
    isSilent: !sound,
  });
  const end = new AbortController();
  const stop = (): void => end.abort();
  for (const signal of END_SIGNALS) signals.once(signal, stop);
  const findings = await runChecks(examination.checks, {
    clock,
    abort: end.signal,
    ...(json === undefined && { tell: (finding) => shell.print(layOutFinding(finding, hasLanes)) }),
  });
  await examination.close();
  for (const signal of END_SIGNALS) signals.off(signal, stop);
  if (end.signal.aborted) throw new Failure('stopped before all checks were done');
  if (json) shell.print(formatDiagnosis(diagnosisOf(VERSION, findings)));
  else shell.print(`\n${layOutSummary(findings)}`);
  if (worstOf(findings.map(({ verdict }) => verdict)) === 'problem') shell.finish(EXIT.problemFound);
}

/**
 * The environment of this program, with the running agent's own settings and credentials, if this user may read them: the
 * doctor then reads the same configuration and the same secrets.
 */
export function asAgent(env: Shell['env'], file: string, proc: string): Shell['env'] {
  const agent = findRunningAgents(proc, process.pid)?.find((one) => runsWith(one, file));
  if (agent === undefined) return env;
  const taken = Object.entries(readAgentEnvironment(proc, agent.pid)).filter(
    ([name]) => name.startsWith('DRAGOMAN_') || name === 'CREDENTIALS_DIRECTORY',
  );
  return { ...env, ...Object.fromEntries(taken) };
}

function exists(file: string): boolean {
  try {
    statSync(file);
    return true;
  } catch (error) {
    // An existing file that is not readable is a finding.
    return systemCode(error) !== 'ENOENT';
  }
}
