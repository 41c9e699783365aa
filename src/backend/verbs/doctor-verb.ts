import type { Command } from 'commander';
import { EXIT, Failure } from '../../program/problem.ts';
import { examples, type Shell } from '../../program/program.ts';
import { jsonLine, textLine } from '../../protocol/common/plain-text.ts';
import { CONFIG_OPTION, ConfigFailure, type Opened, openConfig } from '../config/open-config.ts';
import { checkBroker, checkClock, checkService, checkStore, type Finding } from './doctor-checks.ts';

/** `doctor`: checks everything that the backend needs. It creates no session and changes nothing. */
export function addDoctorVerb(program: Command, shell: Shell): void {
  program
    .command('doctor')
    .description('check service, API key, broker, store and clock, and say how to fix problems')
    .option(...CONFIG_OPTION)
    .option('--json', 'print one line: {"doctor": {"verdict", "checks": [{"check", "verdict", ...}]}}')
    .addHelpText(...examples('dragoman-backend doctor --config /etc/dragoman-backend/config.json'))
    .action((options: { config?: string; json?: true }) => doctor(shell, options));
}

async function doctor(shell: Shell, options: { config?: string; json?: true }): Promise<void> {
  const checks = await examine(shell, options.config);
  const problems = checks.filter(({ verdict }) => verdict === 'problem');
  const verdict = problems.length > 0 ? 'problem' : 'ok';
  if (options.json) shell.print(jsonLine({ doctor: { verdict, checks } }));
  else for (const finding of checks) shell.print(layOut(finding));
  if (problems.length === 0) return;
  const names = [...new Set(problems.map(({ check }) => check))].join(', ');
  throw new Failure(`found a problem: ${names}. The lines above say what to do.`, EXIT.problemFound);
}

async function examine(shell: Shell, file: string | undefined): Promise<readonly Finding[]> {
  let opened: Opened;
  try {
    opened = openConfig(shell, file, 'apiKeyFile');
  } catch (error) {
    if (!(error instanceof ConfigFailure)) throw error;
    return withoutConfig(error.problems, file);
  }
  const [service, ...others] = await Promise.all([
    checkService(opened),
    checkBroker(opened),
    checkStore(opened),
    checkClock(opened),
  ]);
  return [...service, ...others];
}

function withoutConfig(problems: readonly string[], file: string | undefined): readonly Finding[] {
  const fix = file === undefined ? 'name its file with --config' : `correct ${file}`;
  const finding = 'the configuration cannot be used';
  return [
    ...problems.map((problem) => ({
      check: 'configuration' as const,
      verdict: 'problem' as const,
      finding: problem,
      fix,
    })),
    ...(['service', 'key', 'broker', 'store', 'clock'] as const).map((check) => ({
      check,
      verdict: 'skipped' as const,
      finding,
      fix: null,
    })),
  ];
}

function layOut({ verdict, check, finding, fix }: Finding): string {
  const head = textLine(`${verdict.padEnd(9)}${check.padEnd(15)}${finding}`);
  return fix === null ? head : head + textLine(`${' '.repeat(24)}-> ${fix}`);
}
