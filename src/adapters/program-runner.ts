import { execFile } from 'node:child_process';
import type { RunProgram } from '../ports/machine.ts';

const LIMIT_MS = 5000;
const MOST_BYTES = 256 * 1024;

/** Runs programs in the C locale, which the parsers expect, for 5 s at most each. Never rejects. */
export function createProgramRunner(env: Readonly<Record<string, string | undefined>>): RunProgram {
  return (program, words) =>
    new Promise((resolve) => {
      const options = {
        env: { ...env, LC_ALL: 'C' },
        timeout: LIMIT_MS,
        killSignal: 'SIGKILL' as const,
        maxBuffer: MOST_BYTES,
      };
      execFile(program, [...words], options, (error, stdout, stderr) => {
        if (error === null) resolve({ ok: true, text: stdout });
        else resolve({ ok: false, missing: error.code === 'ENOENT', text: (stderr || stdout).trim() });
      });
    });
}
