import type { Bus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Link } from './link.ts';

/** The steps of an orderly disconnect, each counted from its start: older messages, the finale, DISCONNECT, the end of the socket. */
const DRAIN_WITHIN_MS = 1000;
const FINALE_WITHIN_MS = 1500;
const DISCONNECT_WITHIN_MS = 1800;
const CLOSE_WITHIN_MS = 2000;

/** What an orderly disconnect sees of the bus. */
export interface Leaving {
  /** The present link, null once it has ended. */
  link(): Link | null;
  /** How many messages wait or are under way. */
  unsent(): number;
  /** Lets waiting messages go although the connection is being closed, and later no more. */
  drain(allowed: boolean): void;
  /** Has `callback` called after every acknowledgement and at the link's end. */
  watch(callback: () => void): void;
}

/** Sends what waits, then `finale`, then DISCONNECT, so that the broker does not publish the will. Takes 2 s at most. */
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
      // With messages unacknowledged the broker's window may be full, and only QoS 0 may still be sent.
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
