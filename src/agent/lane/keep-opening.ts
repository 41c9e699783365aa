import type { Clock } from '../../ports/clock.ts';

/** A device that does not open is tried again after this long, twice as long each time, up to the longest. */
const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 30_000;
const SLACK_MS = 500;

export interface Opening<Device> {
  open(): Promise<Device>;
  /** It is open; also when that was cancelled meanwhile. */
  opened(device: Device): void | Promise<void>;
  /** A try has failed; the same failure several times in a row is told once. */
  failed(error: unknown): void;
}

/** A device that is being opened. */
export interface KeepOpening {
  /** Done when the first try is, however it ends. */
  readonly firstTry: Promise<void>;
  /** No further try. */
  cancel(): void;
}

/**
 * Opens a device, and tries again for as long as that fails: what was missing may come back, and no lane may stay deaf or
 * mute until somebody restarts the agent.
 */
export function keepOpening<Device>(clock: Clock, opening: Opening<Device>): KeepOpening {
  let isCancelled = false;
  let failures = 0;
  let told: string | null = null;
  let disarm = (): void => {};

  const fail = (error: unknown): void => {
    if (isCancelled) return;
    const waitMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** failures);
    failures += 1;
    disarm = clock.at(clock.now() + waitMs, () => void attempt(), SLACK_MS);
    const words = String(error);
    if (words === told) return;
    told = words;
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
