import './no-debug-output.ts';
import { ErrorWithSubackPacket, type MqttClient } from 'mqtt';
import type { Ending } from './ending.ts';

const SHARED = /^\$share\/[^/]+\//;
const FAILED = 0x80;

/** The plain filter below a shared one (`$share/group/filter`), or null when it is not shared. */
function plainFilter(filter: string): string | null {
  return SHARED.test(filter) ? filter.replace(SHARED, '') : null;
}

/**
 * Puts all filters in place, QoS 1. A shared filter that the broker does not offer is subscribed plainly: every
 * member of the group then gets every message, which is better than none.
 * @param done null, or why the connection is of no use
 */
export function subscribeAll(
  client: MqttClient,
  broker: string,
  filters: readonly string[],
  done: (problem: Ending | null) => void,
): void {
  const offersShared = client.serverProperties?.sharedSubscriptionAvailable !== false;
  const wanted = filters.map((filter) => (offersShared ? filter : (plainFilter(filter) ?? filter)));
  const fail = (message: string): void => done({ problem: 'refused', message, finding: 'other' });

  const place = (list: readonly string[]): void => {
    if (list.length === 0) return done(null);
    client.subscribe([...list], { qos: 1 }, (error) => {
      if (!error) return done(null);
      const granted = error instanceof ErrorWithSubackPacket ? (error.packet?.granted ?? []) : [];
      const refused = list.filter((_, index) => Number(granted[index] ?? 0) >= FAILED);
      const plain = refused.map(plainFilter).filter((filter) => filter !== null);
      if (refused.length === 0) return fail(`${broker} did not take the subscriptions: ${error.message}`);
      if (plain.length < refused.length) {
        const named = refused.filter((filter) => plainFilter(filter) === null);
        return fail(`${broker} does not allow us to subscribe to ${named.join(', ')}`);
      }
      place(plain);
    });
  };
  place(wanted);
}
