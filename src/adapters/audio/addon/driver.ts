import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { AudioFault, OpenCapture, OpenPlayback } from '../../../ports/audio.ts';
import { runCapture } from '../child/capture.ts';
import { runPlayback } from '../child/playback.ts';
import type { Child } from '../child/process.ts';
import type { SupervisorDeps } from '../child/supervisor.ts';
import { AudioFaultError } from '../fault.ts';
import { PACKAGES, READY_LINE } from './wire.ts';

/** Options of a card that is driven by an npm package of the operator's. */
export interface AddonOptions {
  readonly device: string;
  readonly rateHz: number;
  readonly seed: number;
  readonly deps: SupervisorDeps;
  /** The child's program; by default next to this program's bundle. */
  readonly script?: string;
}

/** Measured delay from a write until it is heard (milliseconds). */
const LATENCY_MS = 10;
/** Above this resident memory (MB) a child is restarted in a quiet moment: these packages leak tens of MB per hour. */
const RESTING_LIMIT_MB = 200;
/** Above this resident memory (MB) a child is restarted at once: after an unplug the packages leak hundreds of MB per second. */
const HARD_LIMIT_MB = 400;

/** The capture driver `addon`. */
export function createAddonCapture({ device, rateHz, seed, deps, script }: AddonOptions): OpenCapture {
  const words = wordsOf('capture', device, rateHz, script);
  const named = { part: 'capture', name: device, program: PACKAGES.capture } as const;
  const kind = {
    device: () => named,
    shape: () => ({ rateHz, channels: 1 }) as const,
    spec: () => ({ words }),
    inspect: overweight,
  };
  return async (sink) => runCapture(kind, rateHz, sink, deps, seed);
}

/** The playback driver `addon`. */
export function createAddonPlayback({ device, rateHz, seed, deps, script }: AddonOptions): OpenPlayback {
  const words = wordsOf('playback', device, rateHz, script);
  const named = { part: 'playback', name: device, program: PACKAGES.playback } as const;
  const kind = {
    device: () => named,
    shape: () => ({ rateHz, channels: 1 }) as const,
    readiness: {
      read: (line: string) =>
        line === READY_LINE
          ? ({ kind: 'ready', buffering: { periodFrames: 1, bufferFrames: null } } as const)
          : null,
    },
    latencyMs: LATENCY_MS,
    spec: () => ({ words }),
    inspect: overweight,
  };
  return async (sink) => runPlayback(kind, rateHz, sink, deps, seed);
}

/**
 * Reports whether a child uses too much memory.
 * @returns `quiet`: restart it during silence; `now`: its memory grows out of control
 */
export function overweight({ pid }: Pick<Child, 'pid'>): 'quiet' | 'now' | null {
  const megabytes = pid === null ? null : residentMegabytes(pid);
  if (megabytes === null || megabytes < RESTING_LIMIT_MB) return null;
  return megabytes < HARD_LIMIT_MB ? 'quiet' : 'now';
}

const PAGE_BYTES = 4096;

/** From `/proc/PID/statm`; null if the file is absent. Assumes pages of 4 KB: with larger pages the result is too low. */
function residentMegabytes(pid: number): number | null {
  try {
    return (Number(readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[1]) * PAGE_BYTES) / 2 ** 20;
  } catch {
    return null;
  }
}

function wordsOf(
  part: 'capture' | 'playback',
  device: string,
  rateHz: number,
  script = besideBundle(),
): string[] {
  if (!existsSync(script)) {
    const message = `the program for the driver "addon" is missing (${script}); build it with "npm run build", or use the driver "alsa"`;
    throw new AudioFaultError('not_found', message satisfies AudioFault['message']);
  }
  return [process.execPath, '--max-old-space-size=64', script, part, device, String(rateHz)];
}

function besideBundle(): string {
  return fileURLToPath(new URL('./audio-addon.mjs', import.meta.url));
}
