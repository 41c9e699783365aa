import type { Bus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Link } from './link.ts';

/** Deadline for the waiting messages. This and the next three deadlines count from the start of the disconnect. */
const DRAIN_WITHIN_MS = 1000;
/** Deadline for the acknowledgement of the finale. */
const FINALE_WITHIN_MS = 1500;
/** Deadline for the link's end after DISCONNECT; then the socket is cut. */
const DISCONNECT_WITHIN_MS = 1800;
/** Deadline for the socket's close event. */
const CLOSE_WITHIN_MS = 2000;

/** The parts of the bus that a clean disconnect uses. */
export interface Leaving {
  /** The present link; null once it has ended. */
  link(): Link | null;
  /** How many messages wait or are in flight. */
  unsent(): number;
  /** Sets whether waiting messages are still sent while the connection is being closed. */
  drain(allowed: boolean): void;
  /** Calls `callback` after every acknowledgement and at the link's end. */
  watch(callback: () => void): void;
}

/** Sends waiting messages, then `finale`, then DISCONNECT, so that the broker does not publish the will. Takes 2 s at most. */
export async function disconnectGracefully(
  leaving: Leaving,
  clock: Clock,
  finale?: Parameters<Bus['close']>[0],
): Promise<void> {
  const startedAt = clock.now();
  let look = (): void => {};
  leaving.watch(() => look());
  const until = (within: number, done: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const settle = (): void => {
        cancel();
        look = () => {};
        resolve();
      };
      const cancel = clock.at(startedAt + within, settle);
      look = () => {
        if (leaving.link() === null || done()) settle();
      };
      look();
    });

  if (leaving.link()?.accepted) {
    leaving.drain(true);
    await until(DRAIN_WITHIN_MS, () => leaving.unsent() === 0);
    if (finale !== undefined) {
      let published = false;
      // Unacknowledged messages may fill the broker's window, so that only QoS 0 can still be sent.
      const qos = leaving.unsent() === 0 ? 1 : 0;
      leaving.link()?.publish({ ...finale, qos, properties: {} }, () => {
        published = true;
        look();
      });
      await until(FINALE_WITHIN_MS, () => published);
    }
    leaving.drain(false);
    leaving.link()?.end();
    await until(DISCONNECT_WITHIN_MS, () => false);
  }
  leaving.link()?.destroy();
  await until(CLOSE_WITHIN_MS, () => false);
}
