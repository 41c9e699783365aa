import type { OpenCapture, OpenPlayback } from '../../../ports/audio.ts';
import { runCapture } from '../child/capture.ts';
import { runPlayback } from '../child/playback.ts';
import type { NamedDevice } from '../child/stderr-classifier.ts';
import type { SupervisorDeps } from '../child/supervisor.ts';

/** An operator's own program, which reads or writes raw mono PCM at the lane's rate. */
export interface CommandOptions {
  readonly command: readonly string[];
  readonly rateHz: number;
  readonly seed: number;
  readonly deps: SupervisorDeps;
}

/** Time for the program to shut down (milliseconds): it may have work to finish. */
const END_TASK_MS = 500;
/** Assumed delay of a sound server (milliseconds); it cannot be measured. */
const LATENCY_MS = 50;

const nameOf = (part: NamedDevice['part'], command: readonly string[]): NamedDevice => {
  const program = command[0] ?? '';
  return { part, name: program, program };
};

/** The capture driver `command`. */
export function createCommandCapture({ command, rateHz, seed, deps }: CommandOptions): OpenCapture {
  const device = nameOf('capture', command);
  const kind = {
    device: () => device,
    shape: () => ({ rateHz, channels: 1 }) as const,
    spec: () => ({ words: command, closingMs: END_TASK_MS }),
  };
  return async (sink) => runCapture(kind, rateHz, sink, deps, seed);
}

/** The playback driver `command`. */
export function createCommandPlayback({ command, rateHz, seed, deps }: CommandOptions): OpenPlayback {
  const device = nameOf('playback', command);
  const kind = {
    device: () => device,
    shape: () => ({ rateHz, channels: 1 }) as const,
    readiness: null,
    latencyMs: LATENCY_MS,
    spec: () => ({ words: command, closingMs: END_TASK_MS }),
  };
  return async (sink) => runPlayback(kind, rateHz, sink, deps, seed);
}
