import type { MqttConnection } from '../../adapters/mqtt/endpoint.ts';
import type { OpenBus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';

/** Time for the broker to accept a message, or a connection (ms). */
const ANSWER_WITHIN_MS = 5000;
/** Time for a retained message after the subscription (ms): brokers send it at once. */
const RETAINED_WITHIN_MS = 1500;

export interface RetainedCheckParts {
  /** Opens a connection under a name of its own. */
  readonly openAs: (clientId: MqttConnection['clientId']) => OpenBus;
  readonly clock: Clock;
  /** A topic of the backend's own. */
  readonly topic: string;
  readonly id: string;
}

/**
 * Retains a message, and looks whether a filter with a wildcard brings it.
 * @returns null: the broker does not let us try
 */
export async function sendsRetainedToWildcards(parts: RetainedCheckParts): Promise<boolean | null> {
  const { openAs, clock, topic, id } = parts;
  const writer = openAs(`dragoman-backend-doctor-${id.slice(0, 8)}w`)(
    { subscriptions: [], will: null },
    { up() {}, down() {}, message() {} },
  );
  const retain = (payload: string): Promise<boolean> =>
    withLimit(clock, ANSWER_WITHIN_MS, false, (done) =>
      writer.publish(topic, payload, { qos: 1, retain: true, ended: done }),
    );
  try {
    return (await retain(JSON.stringify({ ts: null, id, ok: true }))) ? await look(parts) : null;
  } finally {
    await retain('');
    await writer.close();
  }
}

async function look({ openAs, clock, topic, id }: RetainedCheckParts): Promise<boolean | null> {
  let cancel = (): void => {};
  let close = async (): Promise<void> => {};
  const found = await withLimit<boolean | null>(clock, ANSWER_WITHIN_MS, null, (done) => {
    const filter = topic.replace(/[^/]+$/, '+');
    const reader = openAs(`dragoman-backend-doctor-${id.slice(0, 8)}r`)(
      { subscriptions: [{ filter, qos: 1, mayBeRefused: true }], will: null },
      {
        refused: (filters) => filters.length > 0 && done(null),
        up() {
          cancel = clock.at(clock.now() + RETAINED_WITHIN_MS, () => done(false));
        },
        down: () => done(null),
        message({ payload, retain }) {
          if (retain && payload.includes(id)) done(true);
        },
      },
    );
    close = () => reader.close();
  });
  cancel();
  await close();
  return found;
}

/** Resolves with what `start` passes to `done`, or with `otherwise` at the limit. */
function withLimit<T>(clock: Clock, ms: number, otherwise: T, start: (done: (value: T) => void) => void) {
  return new Promise<T>((resolve) => {
    const cancel = clock.at(clock.now() + ms, () => resolve(otherwise));
    start((value) => {
      cancel();
      resolve(value);
    });
  });
}
