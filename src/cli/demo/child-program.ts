import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Failure } from '../../program/problem.ts';
import { parseJson } from '../../protocol/common/json.ts';

/** One of the project's other programs, running for the demo. */
export interface ChildProgram {
  /** The parsed line with which it reported ready. */
  readonly greeting: unknown;
  close(): Promise<void>;
}

/** Timeout for the start of a program (ms), for slow boards. */
const GREETING_LIMIT_MS = 30_000;
/** Timeout for a program's shutdown (ms); then it is killed. */
const END_LIMIT_MS = 5000;
const KEPT_STDERR_CHARS = 2000;

/**
 * Code that the child loads: it shuts the child down cleanly when its standard input closes. That happens however this
 * process ends, so no demo leaves programs running. The child's threads load it, too, but their standard input is closed
 * from the start; so only the main thread listens.
 */
const END_WITH_PARENT = `data:text/javascript,${encodeURIComponent(
  "import { isMainThread } from 'node:worker_threads'; if (isMainThread) process.stdin.on('end', () => process.kill(process.pid, 'SIGTERM')).on('error', () => {}).resume().unref?.();",
)}`;

/**
 * Starts a program and waits for the line of JSON that reports ready.
 * @throws Failure with its output when it does not start
 */
export async function startProgram(
  script: string,
  args: readonly string[],
  isGreeting: (line: unknown) => boolean,
): Promise<ChildProgram> {
  const child = spawn(process.execPath, ['--import', END_WITH_PARENT, script, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    // A terminal's Ctrl-C goes only to the demo, which shuts its programs down cleanly.
    detached: true,
  });
  let stderrText = '';
  child.stderr.on('data', (text: Buffer) => {
    stderrText = (stderrText + text.toString()).slice(-KEPT_STDERR_CHARS);
  });
  child.stdin.on('error', () => {});
  try {
    const greeting = await waitForGreeting(child, createInterface({ input: child.stdout }), isGreeting);
    return { greeting, close: () => endProgram(child) };
  } catch (error) {
    await endProgram(child);
    const reason = stderrText.trim() || (error instanceof Error ? error.message : 'no reason given');
    throw new Failure(`the demo could not start ${script}: ${reason}`);
  }
}

/** Waits for the ready line. It keeps reading afterwards, so that a full pipe never blocks the program. */
function waitForGreeting(
  child: ChildProcess,
  lines: NodeJS.EventEmitter,
  isGreeting: (line: unknown) => boolean,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const limit = setTimeout(
      () => reject(new Error(`it was not ready within ${GREETING_LIMIT_MS / 1000} s`)),
      GREETING_LIMIT_MS,
    );
    lines.on('line', (line: string) => {
      const parsed = parseJson(line);
      if (!isGreeting(parsed)) return;
      clearTimeout(limit);
      resolve(parsed);
    });
    child.once('exit', (code, signal) => {
      clearTimeout(limit);
      reject(new Error(`it ended at once (${code ?? signal})`));
    });
    child.once('error', (error) => {
      clearTimeout(limit);
      reject(error);
    });
  });
}

async function endProgram(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), END_LIMIT_MS);
  await exited;
  clearTimeout(timer);
}
