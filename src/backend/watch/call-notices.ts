/** Sends a notice of each visitor's call for staff at once: one notice per call, from one of the backends. */
import { PendingWork } from '../../machine/pending-work.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Store } from '../../ports/store.ts';

/** Shortest time between two notices about one device (ms). A device calls at most each 30 s, unless its login is stolen. */
export const CALL_NOTICE_EACH_MS = 20_000;
/** Before the device in the store's list of alerts. */
const SUBJECT = 'help ';

export interface CallNotices {
  /** Checks a device whose call may have changed. */
  look(device: string): void;
  close(): Promise<void>;
}

export function createCallNotices(parts: {
  readonly store: Pick<Store, 'tell'>;
  readonly clock: Clock;
  /** A name that differs for each call of a device; null: no call is open. */
  readonly callOf: (device: string) => string | null;
  readonly tell: (device: string) => void;
  readonly storeFailed: (error: unknown) => void;
}): CallNotices {
  const { store, clock, callOf, tell, storeFailed } = parts;
  const seen = new Map<string, { readonly call: string; readonly at: number }>();
  const pending = new PendingWork();

  const settle = async (device: string, call: string): Promise<void> => {
    try {
      if (await store.tell(`${SUBJECT}${device}`, call)) tell(device);
    } catch (error) {
      storeFailed(error);
      // Two notices by two backends are better than none.
      tell(device);
    }
  };

  return {
    look(device) {
      const call = callOf(device);
      const last = seen.get(device);
      if (call === null || call === last?.call) return;
      if (last !== undefined && clock.now() - last.at < CALL_NOTICE_EACH_MS) return;
      seen.set(device, { call, at: clock.now() });
      pending.add(settle(device, call));
    },
    close: () => pending.idle(),
  };
}
