import { BrokerFailure, connectOperator, type OperatorClient } from '../../adapters/ctl/operator-client.ts';
import type { BusMessage } from '../../ports/bus.ts';
import type { CtlDeps } from './deps.ts';

/** What the broker keeps comes at once, all of it together; when nothing more has come for this long, it is all. */
const SETTLED_MS = 500;
/** The first of it may be on a slow way for this long; then there is nothing. */
const FIRST_WITHIN_MS = 3000;
const LOOK_EACH_MS = 50;

/** A connection on which something is published and answers are waited for. */
export interface Exchange {
  publish: OperatorClient['publish'];
  /** Nothing has come for a while: all that the broker keeps has been read. */
  isSettled(): boolean;
  /**
   * Waits until it is so, for at most as long as is said at each look; false: it was not.
   * @throws BrokerFailure when the broker did not take what was published
   */
  waitUntil(isDone: () => boolean, limitMs: () => number): Promise<boolean>;
  close(): Promise<void>;
}

/** @throws BrokerFailure when the broker cannot be reached or refuses the subscriptions */
export async function openExchange(
  { access, clock }: CtlDeps,
  subscriptions: readonly string[],
  receive: (message: BusMessage) => void,
): Promise<Exchange> {
  let lastNewsAt: number | null = null;
  let refusal: string | null = null;
  const client = await connectOperator(access.connection, clock, subscriptions, {
    message(message) {
      lastNewsAt = clock.now();
      receive(message);
    },
    refused: (reason) => {
      refusal = reason;
    },
  });
  const openedAt = clock.now();
  return {
    publish: client.publish,
    close: () => client.close(),
    isSettled: () =>
      lastNewsAt === null
        ? clock.now() - openedAt >= FIRST_WITHIN_MS
        : clock.now() - Math.max(openedAt, lastNewsAt) >= SETTLED_MS,
    async waitUntil(isDone, limitMs) {
      const startedAt = clock.now();
      while (!isDone()) {
        if (refusal !== null) throw new BrokerFailure(`the broker did not take it: ${String(refusal)}`);
        if (clock.now() - startedAt >= limitMs()) return false;
        await new Promise<void>((go) => clock.at(clock.now() + LOOK_EACH_MS, go));
      }
      return true;
    },
  };
}
