import type { OpenCapture, OpenPlayback } from '../../../ports/audio.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/log.ts';
import type { CaptureConfig, PlaybackConfig } from '../../../protocol/config.ts';
import { createAddonCapture, createAddonPlayback } from '../addon/driver.ts';
import { createAlsaHeadset, createAlsaPlayback } from '../alsa/aplay.ts';
import { createAlsaCapture } from '../alsa/arecord.ts';
import type { SupervisorDeps } from '../child/supervisor.ts';
import { createFileCapture } from '../file-capture.ts';
import { createFilePlayback } from '../file-playback.ts';
import { withSecondPlayback } from '../second-playback.ts';
import { createCommandCapture, createCommandPlayback } from './command-driver.ts';

/** The dependencies of the drivers, besides a clock. */
export interface DriverDeps extends Partial<Pick<SupervisorDeps, 'log' | 'lasting' | 'whenCardsChange'>> {
  /** Seed of the waits between retries. */
  readonly seed?: number;
}

/** The capture that a lane's configuration asks for; it delivers at the configuration's `sampleRate`. */
export function createCapture(config: CaptureConfig, clock: Clock, deps: DriverDeps = {}): OpenCapture {
  const { sampleRate: rateHz } = config;
  switch (config.driver) {
    case 'file':
      return createFileCapture({
        path: config.path,
        loop: config.loop,
        rateHz,
        clock,
        note: (sentence) => deps.log?.warn({ path: config.path }, sentence),
      });
    case 'alsa':
      return createAlsaCapture({
        device: config.device,
        rateHz,
        gain: config.gain,
        ...supervision(clock, deps),
      });
    case 'command':
      return createCommandCapture({ command: config.command, rateHz, ...supervision(clock, deps) });
    case 'addon':
      return createAddonCapture({ device: config.device, rateHz, ...supervision(clock, deps) });
  }
}

/**
 * The playback that a lane's configuration asks for.
 * @param rateHz rate of the PCM that will be played
 */
export function createPlayback(
  config: PlaybackConfig,
  rateHz: number,
  clock: Clock,
  deps: DriverDeps = {},
): OpenPlayback {
  switch (config.driver) {
    case 'file':
      return createFilePlayback({
        path: config.path,
        overwrite: config.overwrite,
        maxMs: config.maxMinutes * 60_000,
        rateHz,
        clock,
      });
    case 'alsa': {
      const first = createAlsaPlayback({ device: config.device, rateHz, ...supervision(clock, deps) });
      const { also } = config;
      return also === null ? first : withSecondPlayback(first, createHeadset(also, rateHz, clock, deps));
    }
    case 'command':
      return createCommandPlayback({ command: config.command, rateHz, ...supervision(clock, deps) });
    case 'addon':
      return createAddonPlayback({ device: config.device, rateHz, ...supervision(clock, deps) });
  }
}

/** A playback without volume control: for the headset of one listener, or beside the loudspeaker. */
export function createHeadset(
  device: string,
  rateHz: number,
  clock: Clock,
  deps: DriverDeps = {},
): OpenPlayback {
  return createAlsaHeadset({ device, rateHz, ...supervision(clock, deps) });
}

const SILENT_LOG: Log = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

function supervision(clock: Clock, { log = SILENT_LOG, lasting, whenCardsChange, seed = 1 }: DriverDeps) {
  const deps: SupervisorDeps = {
    clock,
    log,
    ...(lasting === undefined ? {} : { lasting }),
    ...(whenCardsChange === undefined ? {} : { whenCardsChange }),
  };
  return { seed, deps };
}
