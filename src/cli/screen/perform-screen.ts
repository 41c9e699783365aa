import { createSystemClock } from '../../adapters/clock.ts';
import { openBrowser } from '../../adapters/screen/browser.ts';
import { askBeat } from '../../adapters/screen/page-client.ts';
import type { SignalSource } from '../../agent/daemon.ts';
import { EXIT, Failure } from '../../program/problem.ts';
import type { Shell } from '../../program/program.ts';
import { keepScreen } from './keep-screen.ts';

export interface ScreenOptions {
  readonly port: number;
}

export async function performScreen(
  { port }: ScreenOptions,
  shell: Shell,
  signals: SignalSource,
): Promise<void> {
  const { env } = shell;
  const folder = env['RUNTIME_DIRECTORY'] ?? env['XDG_RUNTIME_DIR'];
  if (folder === undefined)
    throw new Failure(
      'there is no folder in memory for the browser: start dragoman-screen.service, or set XDG_RUNTIME_DIR',
      EXIT.usage,
    );
  const url = `http://127.0.0.1:${port}`;
  await keepScreen({
    ...{
      url,
      clock: createSystemClock(),
      ask: () => askBeat(url),
      open: () => openBrowser(url, folder, env),
    },
    asked: untilSignal(signals),
    complain: (text) => shell.complain(text),
  });
}

function untilSignal(signals: SignalSource): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) signals.on(signal, () => resolve());
  });
}
