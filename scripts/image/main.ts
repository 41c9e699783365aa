import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stepLines } from '../steps.ts';
import { isRunning, programs, StoppedError } from './child-programs.ts';
import { makeImage } from './image.ts';
import { type Options, readOptions, USAGE, UsageError } from './image-options.ts';
import { FOLDERS_OF_PROGRAMS, whatIsMissing } from './tools.ts';

/** @returns the exit code */
export async function runImage(argv: readonly string[], sources: string): Promise<number> {
  try {
    const options = readOptions(argv, sources);
    if (options === null) {
      process.stdout.write(USAGE);
      return 0;
    }
    const missing = whatIsMissing(options);
    if (missing !== null) throw new UsageError(missing);
    return await withDraft(options, sources);
  } catch (error) {
    process.stderr.write(`build-image: ${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

const INTERRUPTED = 130;
/** Beginning of the temporary folder's name; the process id and random letters follow. */
const DRAFT = 'dragoman-image-';
const ABOUT = `This takes about 15 minutes on two quiet cores, and 4 if the Debian of an earlier run is reused.
After an interruption the next run resumes where it stopped.
`;

/** Runs the build in a temporary folder that is always deleted afterwards. */
async function withDraft(options: Options, sources: string): Promise<number> {
  const temporary = process.env['TMPDIR'] ?? tmpdir();
  // A killed mmdebstrap leaves mounts; this does not delete their content.
  for (const name of readdirSync(temporary)) if (isAbandoned(name)) remove(join(temporary, name));
  const draft = mkdtempSync(join(temporary, `${DRAFT}${process.pid}-`));
  const steps = stepLines({
    isTerminal: process.stdout.isTTY === true,
    write: (text) => void process.stdout.write(text),
    now: () => performance.now(),
  });
  const logFile = join(options.out, 'build-image.log');
  const run = programs(steps.tell, (text) => appendFileSync(logFile, text), {
    PATH: [process.env['PATH'], ...FOLDERS_OF_PROGRAMS].join(':'),
  });
  const stop = () => void run.stop();
  process.on('SIGINT', stop).on('SIGTERM', stop);
  try {
    mkdirSync(options.out, { recursive: true });
    writeFileSync(logFile, '');
    process.stdout.write(`${ABOUT}Log: ${logFile}\n\n`);
    await makeImage({ options, sources, draft, run, steps });
    return 0;
  } catch (error) {
    if (!(error instanceof StoppedError)) throw error;
    process.stderr.write('build-image: stopped; all temporary files are deleted\n');
    return INTERRUPTED;
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
    remove(draft);
  }
}

/** Whether this is the temporary folder of a run that was killed: it holds gigabytes. */
function isAbandoned(name: string): boolean {
  const [, owner] = name.startsWith(DRAFT) ? (/^(\d+)-/.exec(name.slice(DRAFT.length)) ?? []) : [];
  return owner !== undefined && !isRunning(Number(owner));
}

/** --one-file-system: never deletes the content of a mount. */
function remove(folder: string): void {
  const { status } = spawnSync('rm', ['-rf', '--one-file-system', folder]);
  if (status !== 0)
    process.stderr.write(
      `build-image: ${folder} cannot be removed; unmount what is mounted in it, and delete it\n`,
    );
}
