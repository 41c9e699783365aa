import type { Clock } from '../../../ports/clock.ts';

/** First retry interval of a device that does not open (ms); it doubles with each failure. */
const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 30_000;
const SLACK_MS = 500;

export interface Opening<Device> {
  open(): Promise<Device>;
  /** The device is open. Called even if the opening was cancelled meanwhile. */
  opened(device: Device): void | Promise<void>;
  /** A try failed; the same failure several times in a row is reported once. */
  failed(error: unknown): void;
}

/** A device that is being opened. */
export interface KeepOpening {
  /** Resolves after the first try, whatever its result. */
  readonly firstTry: Promise<void>;
  /** Stops the retries. */
  cancel(): void;
}

/**
 * Opens a device, and retries as long as that fails: a missing device may come back, and no lane may stay deaf or
 * mute until a restart.
 */
export function keepOpening<Device>(clock: Clock, opening: Opening<Device>): KeepOpening {
  let isCancelled = false;
  let failures = 0;
  let lastReported: string | null = null;
  let disarm = (): void => {};

  const fail = (error: unknown): void => {
    if (isCancelled) return;
    const waitMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** failures);
    failures += 1;
    disarm = clock.at(clock.now() + waitMs, () => void attempt(), SLACK_MS);
    const words = String(error);
    if (words === lastReported) return;
    lastReported = words;
    opening.failed(error);
  };
  const attempt = async (): Promise<void> => {
    let device: Device;
    try {
      device = await opening.open();
    } catch (error) {
      return fail(error);
    }
    await opening.opened(device);
  };
  return {
    firstTry: attempt(),
    cancel() {
      isCancelled = true;
      disarm();
    },
  };
}
