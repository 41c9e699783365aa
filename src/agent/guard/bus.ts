import type { Bus, BusListener, OpenBus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import { attempt, type Defects, nameOf } from './defects.ts';
import { createSecondTry } from './second-try.ts';

/** A connection that could not even be begun is begun again after this long: without it nobody hears of this device. */
const AGAIN_MS = 30_000;

/** A connection to the owner that never throws and never rejects, and whose messages may throw in here. */
export function guardBus(openBus: OpenBus, clock: Clock, defects: Defects): OpenBus {
  return (options, listener) => {
    const heard = guardListener(listener, defects);
    let bus: Bus | null = null;
    let cancel = (): void => {};
    const letters = createSecondTry(() => bus, clock, defects);
    const open = (): void => {
      try {
        bus = openBus(options, heard);
      } catch (error) {
        defects('bus.open', error);
        heard.down(
          'unreachable',
          `the connection to the broker could not be begun (${nameOf(error)}); tried again`,
        );
        cancel = clock.at(clock.now() + AGAIN_MS, open);
      }
    };
    open();
    return {
      get connected() {
        let connected = false;
        attempt(defects, 'bus.connected', () => {
          connected = bus?.connected === true;
        });
        return connected;
      },
      get outbox() {
        let counts: Bus['outbox'] = { depth: 0, dropped: 0 };
        attempt(defects, 'bus.outbox', () => {
          counts = bus?.outbox ?? counts;
        });
        return { depth: counts.depth + letters.depth, dropped: counts.dropped + letters.dropped };
      },
      publish(topic, payload, publishOptions) {
        letters.publish(topic, payload, publishOptions ?? {});
      },
      urgent(isUrgent) {
        attempt(defects, 'bus.urgent', () => bus?.urgent(isUrgent));
      },
      disputed() {
        attempt(defects, 'bus.disputed', () => bus?.disputed?.());
      },
      tryNow() {
        attempt(defects, 'bus.tryNow', () => bus?.tryNow?.());
      },
      attempt(finale, done) {
        attempt(defects, 'bus.attempt', () =>
          bus?.attempt?.(finale, (problem) => void attempt(defects, 'broker tried', () => done(problem))),
        );
      },
      reconnect() {
        attempt(defects, 'bus.reconnect', () => bus?.reconnect());
      },
      async close(finale) {
        cancel();
        letters.close();
        try {
          await bus?.close(finale);
        } catch (error) {
          defects('bus.close', error);
        }
      },
    };
  };
}

function guardListener(listener: BusListener, defects: Defects): BusListener {
  return {
    up: (connection, protocol) =>
      void attempt(defects, 'connection up', () => listener.up(connection, protocol)),
    refused: (filters) => void attempt(defects, 'subscriptions refused', () => listener.refused?.(filters)),
    down: (problem, message) =>
      void attempt(defects, 'connection down', () => listener.down(problem, message)),
    lost: (lost) => void attempt(defects, 'message lost', () => listener.lost?.(lost)),
    oversized: (topic, bytes) =>
      void attempt(defects, 'message too large', () => listener.oversized?.(topic, bytes)),
    message: (message) => void attempt(defects, 'message received', () => listener.message(message)),
  };
}
