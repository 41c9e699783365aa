import { spawn } from 'node:child_process';
import { alsaWords, reasonIn } from '../child/own-words.ts';
import type { Ability, Direction } from './card.ts';
import { parseHardwareParameters } from './hardware-parameters.ts';
import { parseDeviceList, type SoftwareDevice } from './software-devices.ts';

/** Queries to ALSA's own programs. */
export interface AlsaTools {
  /** The devices that ALSA's configuration adds to the cards' own; null when the program is not installed. */
  listSoftware(direction: Direction): Promise<SoftwareList | null>;
  /** Asks what a device can do. Opens it for a moment; plays and records nothing. */
  askAbility(direction: Direction, device: string): Promise<AbilityAnswer>;
}

export interface SoftwareList {
  readonly devices: readonly SoftwareDevice[];
  /** Why the list is empty, in ALSA's words; null: ALSA gave no reason. */
  readonly trouble: string | null;
}

export type AbilityAnswer =
  | { readonly ok: true; readonly ability: Ability }
  /** In ALSA's words, such as `No such device, ALSA: "Cannot get card index for Mic"`. */
  | { readonly ok: false; readonly reason: string };

const PROGRAMS = { capture: 'arecord', playback: 'aplay' } as const;
/** A format that no sound card has: the program prints what the device can do and exits. */
const NO_CARDS_FORMAT = 'FLOAT64_BE';
const MOST_OUTPUT_BYTES = 256 * 1024;

export interface AlsaToolsOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Timeout for a device that does not answer, milliseconds. */
  readonly limitMs?: number;
}

export function createAlsaTools({ env, limitMs = 3000 }: AlsaToolsOptions): AlsaTools {
  const run = (direction: Direction, words: readonly string[], isEnough?: (output: Output) => boolean) =>
    runProgram(PROGRAMS[direction], words, { env, limitMs, ...(isEnough && { isEnough }) });
  return {
    async listSoftware(direction) {
      const ended = await run(direction, ['-L']);
      if (ended.isMissing) return null;
      const trouble = ended.stdout === '' ? alsaWords(ended.stderr.split('\n')) : null;
      return { devices: parseDeviceList(ended.stdout), trouble };
    },
    async askAbility(direction, device) {
      const words = ['-D', device, '--dump-hw-params', '-f', NO_CARDS_FORMAT, '-t', 'raw', '-s', '1'];
      const ended = await run(
        direction,
        [...words, '/dev/null'],
        ({ stderr }) => parseHardwareParameters(stderr) !== null,
      );
      const ability = parseHardwareParameters(ended.stderr);
      if (ability !== null) return { ok: true, ability };
      if (ended.isMissing) return { ok: false, reason: `${PROGRAMS[direction]} is not installed` };
      if (ended.isLate) return { ok: false, reason: `no answer in ${limitMs / 1000} s` };
      return { ok: false, reason: reasonIn(ended.stderr) };
    },
  };
}

interface Output {
  readonly stdout: string;
  readonly stderr: string;
}

interface Ended extends Output {
  readonly isMissing: boolean;
  readonly isLate: boolean;
}

interface RunOptions extends Required<AlsaToolsOptions> {
  /** Whether the output so far suffices; then the program is ended. */
  isEnough?(output: Output): boolean;
}

/** Runs a program until it exits, times out, or has printed enough. Never rejects. */
function runProgram(
  program: string,
  words: readonly string[],
  { env, limitMs, isEnough }: RunOptions,
): Promise<Ended> {
  return new Promise((resolve) => {
    const output = { stdout: '', stderr: '' };
    const child = spawn(program, words, {
      env: { ...env, LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const end = (how: Partial<Ended>): void => {
      clearTimeout(limit);
      // A device that hangs in the kernel can block even SIGKILL; the caller does not wait for it.
      child.kill('SIGKILL');
      child.unref();
      child.stdout.destroy();
      child.stderr.destroy();
      resolve({ ...output, isMissing: false, isLate: false, ...how });
    };
    const limit = setTimeout(() => end({ isLate: true }), limitMs);
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        if (output[name].length < MOST_OUTPUT_BYTES) output[name] += text;
        if (isEnough?.(output) === true) end({});
      });
    }
    child.on('error', () => end({ isMissing: true }));
    child.on('close', () => end({}));
  });
}
