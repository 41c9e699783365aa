import type { Capabilities } from './live-colors.ts';
import type { KeySignal, KeySource } from './live-keys.ts';
import type { LiveTerminal } from './live-screen.ts';

type Environment = Readonly<Record<string, string | undefined>>;
type HostEvent = 'exit' | 'SIGCONT';

/** The process around a live view. */
export interface LiveHost {
  readonly env: Environment;
  readonly input: KeySource;
  on(event: HostEvent, listener: () => void): unknown;
  off(event: HostEvent, listener: () => void): unknown;
  /** Sends a signal to the whole process group, as a terminal does. */
  raise(signal: KeySignal): void;
}

export function processHost(): LiveHost {
  return {
    env: process.env,
    input: process.stdin,
    on: (event, listener) => process.on(event, listener),
    off: (event, listener) => process.off(event, listener),
    raise: (signal) => void process.kill(0, signal),
  };
}

/** Whether the output can show a live view. */
export function isLiveTerminal(output: { readonly isTTY?: boolean }, env: Environment): boolean {
  return output.isTTY === true && env['TERM'] !== 'dumb';
}

export function capabilitiesOf(terminal: LiveTerminal, env: Environment): Capabilities {
  // An empty NO_COLOR has no effect (no-color.org).
  const isPlain = Boolean(env['NO_COLOR']);
  return { colour: !isPlain && (terminal.hasColors?.(16) ?? false), unicode: hasUnicode(env) };
}

function hasUnicode(env: Environment): boolean {
  // The font of the kernel's console has too few characters.
  if (env['TERM'] === 'linux') return false;
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '';
  return /utf-?8/i.test(locale) || Boolean(env['WT_SESSION']);
}
