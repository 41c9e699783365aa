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

/** The most filters in one SUBSCRIBE: AWS IoT Core closes the connection at more. */
const MOST_FILTERS = 8;

/** How the broker answered one or several SUBSCRIBE packets. */
interface Answer {
  readonly refused: readonly Subscription[];
  /** Why it did not answer for each filter; null: it did. */
  readonly failure: string | null;
}

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
  const wanted = subscriptions.map((one) => ({
    ...one,
    filter: (offersShared ? null : plainFilter(one.filter)) ?? one.filter,
    isWithoutRetained: isWithoutRetained || one.isWithoutRetained === true,
  }));
  const fail = (message: string): void => done({ problem: 'refused', message }, []);

  const place = (list: readonly Subscription[], without: readonly string[]): void => {
    askInBatches(client, list, ({ refused, failure }) => {
      if (failure !== null) return fail(`${broker} did not accept the subscriptions: ${failure}`);
      const plain = refused.flatMap((one) => {
        const filter = plainFilter(one.filter);
        return filter === null ? [] : [{ ...one, filter }];
      });
      const lost = refused.filter(({ filter }) => plainFilter(filter) === null);
      const needed = lost.filter(({ mayBeRefused }) => !mayBeRefused).map(({ filter }) => filter);
      if (needed.length > 0) {
        return fail(`${broker} does not allow us to subscribe to ${needed.join(', ')}`);
      }
      const refusedSoFar = [...without, ...lost.map(({ filter }) => filter)];
      if (plain.length === 0) done(null, refusedSoFar);
      else place(plain, refusedSoFar);
    });
  };
  place(wanted, []);
}

/**
 * Sends all batches at once. The library's own batches would report only the first answer with a refusal.
 * @param done called once, after the last answer
 */
function askInBatches(
  client: MqttClient,
  list: readonly Subscription[],
  done: (answer: Answer) => void,
): void {
  const batches = Array.from({ length: Math.ceil(list.length / MOST_FILTERS) }, (_, index) =>
    list.slice(index * MOST_FILTERS, (index + 1) * MOST_FILTERS),
  );
  if (batches.length === 0) return done({ refused: [], failure: null });
  const answers = new Map<number, Answer>();
  for (const [index, batch] of batches.entries()) {
    askFor(client, batch, (answer) => {
      answers.set(index, answer);
      if (answers.size < batches.length) return;
      const inOrder = batches.flatMap((_, at) => answers.get(at) ?? []);
      const failure = inOrder.find((one) => one.failure !== null)?.failure ?? null;
      done({ refused: inOrder.flatMap(({ refused }) => refused), failure });
    });
  }
}

/** Sends one SUBSCRIBE. */
function askFor(client: MqttClient, batch: readonly Subscription[], done: (answer: Answer) => void): void {
  const asked = Object.fromEntries(
    batch.map(({ filter, qos, isWithoutRetained }) => [
      filter,
      { qos, ...(isWithoutRetained && { rh: NOTHING_RETAINED }) },
    ]),
  );
  client.subscribe(asked, (error) => {
    if (!error) return done({ refused: [], failure: null });
    const granted = error instanceof ErrorWithSubackPacket ? (error.packet?.granted ?? []) : [];
    const refused = batch.filter((_, index) => Number(granted[index] ?? 0) >= FAILED);
    done({ refused, failure: refused.length === 0 ? error.message : null });
  });
}
