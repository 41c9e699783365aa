/**
 * Reads one document from the broker, and publishes one, over a new connection. On the console's own connection, the broker may have
 * a document that has not arrived yet, and a queued document could be sent hours later and replace a newer one.
 */
import { randomUUID } from 'node:crypto';
import type { OpenBus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import { parseJson, textAt } from '../../protocol/common/json.ts';
import { Refusal } from './refusal.ts';

/** Longest wait for the broker (ms). */
const WITHIN_MS = 10_000;

/**
 * The document that the broker has retained on a topic; null: certainly none.
 * @param marker a topic on which our own message returns after all retained messages
 * @throws Refusal if the broker does not answer
 */
export type LookForDesired = (topic: string, marker: string) => Promise<string | null>;

/** @param openBus opens a connection for each call, so that nothing else waits in its queue */
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

/** @throws Refusal if the broker does not acknowledge the document, which is then never sent later */
export type PublishDesired = (topic: string, text: string) => Promise<void>;

/** @param openBus opens a connection for each call: an unsent document is dropped with it */
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
