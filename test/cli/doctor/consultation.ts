/** Shared by the tests of `dragoman doctor`: a command line, a configuration, and the output. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createSystemClock } from '../../../src/adapters/clock.ts';
import { createDoctorVerb } from '../../../src/cli/doctor/doctor-verb.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import { runProgram } from '../../../src/program/program.ts';
import { type Diagnosis, diagnosisSchema, type Finding } from '../../../src/protocol/mqtt/diagnose.ts';
import { gather } from '../../gathered.ts';
import { keysNotSnake } from '../../snake-case.ts';

export const RECORDING = fileURLToPath(new URL('../../../src/cli/demo/visitor.wav', import.meta.url));

export interface Consultation {
  readonly exitCode: number;
  readonly printed: string;
  readonly complained: string;
}

/** Runs one command line. */
export async function consult(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>> = { PATH: process.env['PATH'] },
  clock: Clock = createSystemClock(),
): Promise<Consultation> {
  const { said, print, complain } = gather();
  const exitCode = await runProgram({
    name: 'dragoman',
    summary: 'test',
    verbs: [createDoctorVerb(clock)],
    argv: ['doctor', ...argv],
    env,
    print,
    complain,
  });
  return { exitCode, printed: said.out, complained: said.err };
}

/** Folders of one test file, removed at its end. */
export function createConsultation() {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-doctor-'));
  const config = (name: string, more: Record<string, unknown> = {}): string => {
    const file = join(folder, `${name}.json`);
    const whole = {
      device: { id: 'kiosk-01', tenant: 'museum' },
      mqtt: { url: 'mqtt://127.0.0.1:1' },
      lanes: [
        {
          source: 'en',
          targets: ['es'],
          capture: { driver: 'file', path: RECORDING },
          playback: { driver: 'file', path: join(folder, 'out.wav') },
        },
      ],
      ...more,
    };
    writeFileSync(file, JSON.stringify(whole), { mode: 0o600 });
    return file;
  };
  /** A file with a secret and correct permissions. */
  const secret = (name: string, text: string, mode = 0o600): string => {
    const file = join(folder, name);
    writeFileSync(file, text, { mode });
    return file;
  };
  /** Runs the doctor with `--json` and reads its findings. */
  const examine = async (
    file: string,
    options: readonly string[] = [],
    env?: Readonly<Record<string, string | undefined>>,
    clock?: Clock,
  ): Promise<Consultation & { diagnosis: Diagnosis; of: (check: string) => Finding }> => {
    const consultation = await consult(['--config', file, '--json', ...options], env, clock);
    const [line = ''] = consultation.printed.trim().split('\n').slice(-1);
    const diagnosis = diagnosisSchema.strict().parse((JSON.parse(line) as { doctor: unknown }).doctor);
    if (keysNotSnake(diagnosis).length > 0) throw new Error(`not snake_case: ${keysNotSnake(diagnosis)}`);
    return {
      ...consultation,
      diagnosis,
      of(check) {
        const finding = diagnosis.checks.find((one) => one.check === check);
        if (finding === undefined) throw new Error(`nothing was found out about ${check}`);
        return finding;
      },
    };
  };
  return { folder, config, secret, examine, close: () => rmSync(folder, { recursive: true, force: true }) };
}
