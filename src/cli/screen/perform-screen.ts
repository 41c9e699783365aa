import { createSystemClock } from '../../adapters/clock.ts';
import { openBrowser } from '../../adapters/screen/browser.ts';
import { askBeat } from '../../adapters/screen/page-client.ts';
import type { SignalSource } from '../../device/process/signal-source.ts';
import { EXIT, Failure } from '../../program/problem.ts';
import type { Shell } from '../../program/program.ts';
import { keepScreen } from './keep-screen.ts';
import { type ConsoleOutput, showConsole } from './show-console.ts';

export interface ScreenOptions {
  readonly port: number;
  readonly tty?: true;
}

export async function performScreen(
  { port, tty }: ScreenOptions,
  shell: Shell,
  { signals, output }: { readonly signals: SignalSource; readonly output: ConsoleOutput },
): Promise<void> {
  const url = `http://127.0.0.1:${port}`;
  const clock = createSystemClock();
  const asked = untilSignal(signals);
  if (tty === true) return showConsole(url, clock, output, asked);
  const { env } = shell;
  const folder = env['RUNTIME_DIRECTORY'] ?? env['XDG_RUNTIME_DIR'];
  if (folder === undefined)
    throw new Failure(
      'there is no folder in memory for the browser: start dragoman-screen.service, or set XDG_RUNTIME_DIR',
      EXIT.usage,
    );
  await keepScreen({
    url,
    clock,
    ask: () => askBeat(url),
    open: () => openBrowser(url, folder, env),
    asked,
    complain: (text) => shell.complain(text),
  });
}

function untilSignal(signals: SignalSource): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) signals.on(signal, () => resolve());
  });
}
