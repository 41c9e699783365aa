import { connectOperator, type OperatorClient, RefusedMessage } from '../../adapters/ctl/operator-client.ts';
import type { BusMessage } from '../../ports/bus.ts';
import type { CtlDeps } from './deps.ts';

/** Pause after which all retained messages have arrived (ms): the broker sends them in one burst. */
const SETTLED_MS = 500;
/** Maximum wait for the first retained message (ms), for slow connections; afterwards, none is expected. */
const FIRST_WITHIN_MS = 3000;
const CHECK_EACH_MS = 50;

/** A connection to publish messages and wait for answers. */
export interface Exchange {
  publish: OperatorClient['publish'];
  /** Whether all retained messages have arrived: there was no message for a while. */
  isSettled(): boolean;
  /**
   * Waits until `isDone` returns true; `limitMs` is read at each check. False: timeout.
   * @throws BrokerFailure when the broker rejected a message
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
        if (refusal !== null) throw new RefusedMessage(`the broker rejected the message: ${String(refusal)}`);
        if (clock.now() - startedAt >= limitMs()) return false;
        await new Promise<void>((go) => clock.at(clock.now() + CHECK_EACH_MS, go));
      }
      return true;
    },
  };
}
