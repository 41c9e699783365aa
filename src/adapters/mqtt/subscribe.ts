import './no-debug-output.ts';
import { ErrorWithSubackPacket, type MqttClient } from 'mqtt';
import type { BusOptions, Subscription } from '../../ports/bus.ts';
import type { Ending } from './end-reasons.ts';

const SHARED = /^\$share\/[^/]+\//;
const FAILED = 0x80;

/** The plain filter in a shared one (`$share/group/filter`); null when it is not shared. */
function plainFilter(filter: string): string | null {
  return SHARED.test(filter) ? filter.replace(SHARED, '') : null;
}

/** All filters under which the broker may hold these subscriptions: shared ones may have become plain. */
export function everyFilterOf(subscriptions: readonly Subscription[]): string[] {
  return subscriptions.flatMap(({ filter }) => {
    const plain = plainFilter(filter);
    return plain === null ? [filter] : [filter, plain];
  });
}

export function subscriptionsOf({ subscriptions }: BusOptions): Subscription[] {
  return subscriptions.map((one) =>
    typeof one === 'string' ? { filter: one, qos: 1, mayBeRefused: false } : one,
  );
}

/** MQTT 5, Retain Handling 2: the subscription brings no retained messages. */
const NOTHING_RETAINED = 2;

/**
 * Subscribes to all filters. A shared filter that the broker does not support is subscribed plainly: then every member of the group
 * gets every message, which is better than no messages.
 * @param done receives why the connection is useless, or null and the optional filters that were refused
 */
export function subscribeAll(
  client: MqttClient,
  broker: string,
  subscriptions: readonly Subscription[],
  { isWithoutRetained = false }: { readonly isWithoutRetained?: boolean },
  done: (problem: Ending | null, refused: readonly string[]) => void,
): void {
  const offersShared = client.serverProperties?.sharedSubscriptionAvailable !== false;
  const wanted = subscriptions.map((one) =>
    offersShared ? one : { ...one, filter: plainFilter(one.filter) ?? one.filter },
  );
  const fail = (message: string): void => done({ problem: 'refused', message }, []);

  const place = (list: readonly Subscription[], without: readonly string[]): void => {
    if (list.length === 0) return done(null, without);
    const asked = Object.fromEntries(
      list.map(({ filter, qos, isWithoutRetained: isBare = false }) => [
        filter,
        { qos, ...((isWithoutRetained || isBare) && { rh: NOTHING_RETAINED }) },
      ]),
    );
    client.subscribe(asked, (error) => {
      if (!error) return done(null, without);
      const granted = error instanceof ErrorWithSubackPacket ? (error.packet?.granted ?? []) : [];
      const refused = list.filter((_, index) => Number(granted[index] ?? 0) >= FAILED);
      if (refused.length === 0) return fail(`${broker} did not accept the subscriptions: ${error.message}`);
      const plain = refused.flatMap((one) => {
        const filter = plainFilter(one.filter);
        return filter === null ? [] : [{ ...one, filter }];
      });
      const lost = refused.filter(({ filter }) => plainFilter(filter) === null);
      const needed = lost.filter(({ mayBeRefused }) => !mayBeRefused).map(({ filter }) => filter);
      if (needed.length > 0) {
        return fail(`${broker} does not allow us to subscribe to ${needed.join(', ')}`);
      }
      place(plain, [...without, ...lost.map(({ filter }) => filter)]);
    });
  };
  place(wanted, []);
}
