/**
 * Asks the broker for one document, and publishes one. The console's own connection hears the whole fleet: a document may be at the
 * broker that it has not heard, and one in its queue could be sent hours later and replace a newer one.
 */
import { randomUUID } from 'node:crypto';
import type { OpenBus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import { parseJson, textAt } from '../../protocol/json.ts';
import { Refusal } from './refusal.ts';

/** Longest wait for the broker (ms). */
const WITHIN_MS = 10_000;

/**
 * The document that the broker keeps on a topic; null: certainly none.
 * @param marker a topic on which a message of ours comes back after all that the broker keeps
 * @throws Refusal if the broker does not say so
 */
export type LookForDesired = (topic: string, marker: string) => Promise<string | null>;

/** @param openBus makes a connection for each call: nothing else waits in its queue */
export function createDesiredLook(openBus: OpenBus, clock: Clock): LookForDesired {
  return (topic, marker) =>
    new Promise((resolve, reject) => {
      const id = randomUUID();
      let document: string | null = null;
      let why = 'it did not answer in time';
      const bus = openBus(
        { subscriptions: [topic, marker], will: null },
        {
          up() {
            document = null;
            bus.publish(marker, JSON.stringify({ id }));
          },
          down(_, message) {
            why = message;
          },
          message({ topic: at, payload }) {
            if (at === topic) document = payload === '' ? null : payload;
            else if (textAt(parseJson(payload), 'id') === id) end(() => resolve(document));
          },
          lost: ({ reason }) => end(() => reject(away(reason))),
        },
      );
      const cancel = clock.at(clock.now() + WITHIN_MS, () => end(() => reject(away(why))));
      const end = (act: () => void): void => {
        cancel();
        void bus.close();
        act();
      };
    });
}

/** @throws Refusal if the broker does not confirm it; it is never sent later */
export type PublishDesired = (topic: string, text: string) => Promise<void>;

/** @param openBus makes a connection for each call: what is not sent ends with it */
export function createDesiredPublish(openBus: OpenBus, clock: Clock): PublishDesired {
  return (topic, text) =>
    new Promise((resolve, reject) => {
      let why = 'it did not answer in time';
      const bus = openBus(
        { subscriptions: [], will: null },
        {
          up() {},
          down(_, message) {
            why = message;
          },
          message() {},
          lost({ reason }) {
            why = reason;
          },
        },
      );
      const fail = (): void => void bus.close().then(() => reject(unconfirmed(why)));
      const cancel = clock.at(clock.now() + WITHIN_MS, fail);
      bus.publish(topic, text, {
        qos: 1,
        retain: true,
        ended(isDelivered) {
          cancel();
          if (!isDelivered) return fail();
          void bus.close();
          resolve();
        },
      });
    });
}

const unconfirmed = (why: string): Refusal =>
  new Refusal(
    503,
    'broker_away',
    `the broker has not confirmed the document (${why}): load the configuration again to see which one it has, and check the rights of the backend (docs/console.md)`,
  );

const away = (why: string): Refusal =>
  new Refusal(
    503,
    'broker_away',
    `nothing was changed, because the broker cannot be asked for the present configuration (${why}): try again later, and check the rights of the backend (docs/console.md)`,
  );
