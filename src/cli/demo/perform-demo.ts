import { resolve } from 'node:path';
import { createAlsaTools } from '../../adapters/audio/cards/alsa-tools.ts';
import { AudioFaultError } from '../../adapters/audio/fault.ts';
import { openSource } from '../../adapters/audio/sound-source.ts';
import { checkWritable } from '../../adapters/audio/wav-writer.ts';
import { createSystemClock } from '../../adapters/clock.ts';
import { isSameFile } from '../../adapters/config/clashes.ts';
import { createLogger } from '../../adapters/log.ts';
import type { Log } from '../../ports/log.ts';
import { EXIT, Failure } from '../../program/problem.ts';
import type { Shell } from '../../program/program.ts';
import { jsonLine } from '../../protocol/common/plain-text.ts';
import { type DemoPages, runDemo, STREAM_RATE_HZ } from './demo.ts';
import { formatDesk, runDeskDemo } from './desk.ts';
import { openEnvironment } from './environment.ts';
import { type DemoFault, inputFor } from './faults.ts';
import { shippedRecording } from './input.ts';
import { isLiveTerminal } from './live-host.ts';
import { createLiveView } from './live-view.ts';
import type { DemoView } from './model.ts';
import { createPlainView } from './plain-view.ts';
import { checkRealMic, chooseRealMic, REAL_MIC_MS } from './real-mic.ts';
import { siblingPrograms } from './sibling-programs.ts';
import { type DemoSummary, formatSummary } from './summary.ts';

/** Options of the command line. */
export interface DemoCommandOptions {
  readonly seconds?: number;
  readonly input?: string;
  readonly output: string;
  readonly fault: readonly DemoFault[];
  readonly realMic?: true;
  readonly web?: true;
  readonly desk?: true;
  readonly json?: true;
}

/** Runs `dragoman demo`: checks the options, starts the environment, runs the demo, and prints the summary. */
export async function performDemo(options: DemoCommandOptions, shell: Shell): Promise<void> {
  const input = resolve(options.input ?? shippedRecording());
  const output = resolve(options.output);
  const realMic = options.realMic === true ? chooseRealMic(shell.env) : null;
  const recordedMs = realMic === null ? await measureInput(input) : null;
  if (realMic !== null) await checkRealMic(realMic, createAlsaTools({ env: shell.env }));
  if (realMic === null && isSameFile(input, output)) {
    throw new Failure(
      '--output: is the same file as --input and would overwrite it; name another file',
      EXIT.usage,
    );
  }
  const unwritable = checkWritable(output);
  if (unwritable !== null) throw new Failure(`--output: ${unwritable.message}`, EXIT.usage);
  const abort = new AbortController();
  const end = (): void => abort.abort();
  process.on('SIGINT', end);
  process.on('SIGTERM', end);
  const view = chooseView(options, shell);
  try {
    const environment = await openEnvironment(siblingPrograms(), { hasConsole: options.web === true });
    try {
      if (options.desk === true) {
        const clock = createSystemClock();
        const print = options.json ? () => {} : shell.print;
        const demoParts = { output, clock, log: chooseLog(shell), print, abort: abort.signal };
        const summary = await runDeskDemo(environment, demoParts);
        shell.print(options.json ? jsonLine({ summary }) : `\n${formatDesk(summary)}`);
        return;
      }
      const summary = await runDemo(environment, {
        input,
        output,
        realMic,
        isOwnInput: realMic !== null || options.input !== undefined,
        inputMs: heardMs(options, recordedMs),
        faults: options.fault,
        clock: createSystemClock(),
        log: chooseLog(shell),
        view,
        web: options.web ? { served: (pages) => showPages(pages, options.json, view, shell) } : null,
        abort: abort.signal,
      });
      view.close();
      shell.print(options.json ? jsonLine({ summary }) : `\n${formatSummary(summary)}`);
      if (!abort.signal.aborted) requireFaults(summary);
    } finally {
      await environment.close();
    }
  } finally {
    view.close();
    process.off('SIGINT', end);
    process.off('SIGTERM', end);
  }
}

function showPages(pages: DemoPages, isJson: true | undefined, view: DemoView, shell: Shell): void {
  if (isJson) return shell.print(jsonLine({ pages }));
  const { kiosk, emulator, console } = pages;
  const owner =
    console === null
      ? []
      : [`console   ${console.url}`, `          sign in as ${console.name} with ${console.password}`];
  view.showPages([`kiosk     ${kiosk}`, `emulator  ${emulator}`, ...owner, 'Ctrl-C ends the demo.']);
}

/**
 * Length of the input; null: the whole recording, once. Each fault needs a session of its own, so several faults may need a
 * longer input.
 * @param recordedMs length of the recording; null: a microphone
 */
function heardMs({ seconds, fault, web }: DemoCommandOptions, recordedMs: number | null): number | null {
  if (seconds !== undefined) return seconds * 1000;
  // The recording repeats until Ctrl-C.
  if (web && recordedMs !== null) return null;
  const needed = inputFor(fault);
  if (recordedMs === null) return Math.max(needed, REAL_MIC_MS);
  return needed > recordedMs ? needed : null;
}

/** @throws Failure that names the faults that were not injected */
function requireFaults({ faults, missed_faults: missed }: DemoSummary): void {
  if (missed.length === 0) return;
  const are = missed.length === 1 ? 'this fault was' : 'these faults were';
  throw new Failure(
    `${are} not injected: ${missed.join(', ')}. Each fault needs 30 s with speech: give --seconds ${30 * (faults.length + missed.length)} or more, or an input with more speech`,
  );
}

function chooseView(options: DemoCommandOptions, shell: Shell): DemoView {
  if (options.json || options.desk) return { update: () => {}, showPages: () => {}, close: () => {} };
  return isLiveTerminal(process.stdout, shell.env)
    ? createLiveView(process.stdout, createSystemClock())
    : createPlainView(shell.print);
}

/** The agent's log would garble the view, so it is shown only on request, on standard error. */
function chooseLog(shell: Shell): Log {
  if (shell.env['DRAGOMAN_DEBUG']) {
    return createLogger({ level: 'debug', format: 'json', sink: process.stderr });
  }
  const ignore = (): void => {};
  return { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };
}

/** Checks the recording before anything starts, and returns its length (ms). */
async function measureInput(path: string): Promise<number> {
  try {
    const source = await openSource(path, { rateHz: STREAM_RATE_HZ, loop: false });
    source.close();
    return source.lengthMs;
  } catch (error) {
    if (!(error instanceof AudioFaultError)) throw error;
    throw new Failure(`--input: ${error.message}`, EXIT.usage);
  }
}
