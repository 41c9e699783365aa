import type { BusMessage } from '../../src/ports/bus.ts';
import { deviceTopics } from '../../src/protocol/mqtt/topics.ts';
import type { Broker } from './broker.ts';
import type { Dice } from './dice.ts';
import type { SimClock } from './sim-clock.ts';
import type { CommandOracle } from './token-oracle.ts';

export const ADDRESS = { prefix: 'dragoman/v1', tenant: 'museum', device: 'kiosk-01' } as const;
const TOPICS = deviceTopics(ADDRESS);
const ANSWER_WITHIN_MS = 5000;
/** Time for the answer to `languages` (ms): the device waits up to 30 s for the service. */
const VERDICT_WITHIN_MS = 35_000;
const SPREAD_S = 20;

/** An operator who sends commands, valid and invalid. */
export interface Operator {
  command(name: string, args?: Record<string, unknown>): void;
  /** Sends any command, in any form. */
  sendAny(): void;
  readonly sent: number;
}

export function createOperator(
  clock: SimClock,
  dice: Dice,
  broker: Broker,
  oracle: CommandOracle,
  onCommand: () => void,
): Operator {
  let sent = 0;

  /** Runs promise callbacks until the answer to `languages` is due: no timer of the agent would. */
  const attend = (until: number): void => {
    clock.settle();
    if (clock.now() < until) clock.at(clock.now() + 1000, () => attend(until));
  };
  const send = (topic: string, body: Record<string, unknown>, more: Partial<BusMessage> = {}): void => {
    const message = { topic, payload: JSON.stringify(body), retain: false, properties: {}, ...more };
    sent++;
    if (topic.endsWith('/languages')) attend(clock.now() + VERDICT_WITHIN_MS);
    broker.toDevice(message, () => {
      onCommand();
      const id = body['id'];
      const fleet = topic.includes('/all/');
      const usualMs = topic.endsWith('/languages') ? VERDICT_WITHIN_MS : ANSWER_WITHIN_MS;
      const answerBy = clock.now() + usualMs + (fleet ? SPREAD_S * 1000 : 0);
      if (typeof id === 'string' && topic.includes('/cmd/')) oracle.delivered(id, clock.now(), answerBy);
    });
  };
  const newId = (): string => `c${sent}-${Math.floor(dice.next() * 1e9)}`;

  const variants: readonly [() => void, ...(() => void)[]] = [
    () => operator.command('status'),
    () => operator.command('mute'),
    () => operator.command('unmute'),
    () => operator.command('start'),
    () => operator.command('languages', { targets: [dice.pick(['es', 'fr', 'de'])] }),
    () => operator.command('languages', { source: dice.pick(['en', 'it']) }),
    () => operator.command('languages', { source: 'not a language' }),
    () => operator.command('explode'),
    () => {
      operator.command('stop');
      clock.at(clock.now() + dice.between(50, 40_000), () => operator.command('start'));
    },
    // The broker delivers twice (QoS 1).
    () => {
      const body = { id: newId(), args: {} };
      send(TOPICS.command('mute'), body);
      send(TOPICS.command('mute'), body);
    },
    () =>
      send(`${ADDRESS.prefix}/${ADDRESS.tenant}/all/cmd/unmute`, {
        id: newId(),
        args: { spread_s: SPREAD_S },
      }),
    () => send(TOPICS.command('status'), { id: newId(), args: 7 }),
    () => send(TOPICS.command('stop'), { id: newId(), args: {} }, { retain: true }),
    () => send(TOPICS.command('status'), { id: newId(), args: {}, not_after: '2001-01-01T00:00:00Z' }),
    () => send(TOPICS.tokenResponse, { id: newId(), ok: true }),
  ];

  const operator: Operator = {
    get sent() {
      return sent;
    },
    command(name, args = {}) {
      send(TOPICS.command(name), { id: newId(), args });
    },
    sendAny() {
      dice.pick(variants)();
    },
  };
  return operator;
}
