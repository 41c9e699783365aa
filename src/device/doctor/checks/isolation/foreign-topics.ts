import type { MqttConnection } from '../../../../adapters/mqtt/bus.ts';
import { sleep } from '../../../../adapters/sleep.ts';
import type { Clock } from '../../../../ports/clock.ts';
import { type DeviceAddress, operatorTopics } from '../../../../protocol/mqtt/topics.ts';
import { type Login, logIn } from '../../network/broker-login.ts';
import type { IsolationFacts } from './isolation-rules.ts';

export interface IsolationParts {
  readonly clock: Clock;
  readonly address: DeviceAddress;
  /** The topic level of a device that does not exist. */
  readonly absentDevice: string;
  /** The logins to try, in this order. */
  readonly connections: readonly MqttConnection[];
}

const LOGIN_LIMIT_MS = 5000;
const ANSWER_LIMIT_MS = 3000;
/** Wait for retained messages of others (ms): they follow the subscription at once. */
const LISTEN_MS = 1000;
const LOOK_EACH_MS = 50;

/**
 * Tries topics that are not the device's own. This is harmless even if the broker allows it: no client listens there. Null:
 * no login worked.
 */
export async function tryForeignTopics(parts: IsolationParts): Promise<IsolationFacts | null> {
  const { clock, address, absentDevice } = parts;
  const topics = operatorTopics(address.prefix, address.tenant);
  const topic = `${address.prefix}/${address.tenant}/${absentDevice}/doctor`;
  for (const connection of parts.connections) {
    const heard: string[] = [];
    const open = (subscriptions: readonly string[]): Promise<Login> => {
      const hear = (message: { readonly topic: string }): void => void heard.push(message.topic);
      // Without a will: the published status of the device stays as it is.
      const session = { subscriptions, will: null };
      return logIn({ connection, session, clock, limitMs: LOGIN_LIMIT_MS, hear });
    };
    const first = await open([]);
    if (!first.ok) continue;
    const published = await publish(first, topic, clock);
    await first.bus.close();
    const second = await open([topic, topics.published(null, 'status')]);
    if (second.ok) {
      second.bus.publish(topic, '{}', { qos: 1 });
      await sleep(clock, LISTEN_MS);
      await second.bus.close();
    }
    const others = heard.map((name) => topics.read(name)?.device).filter((name) => name !== address.device);
    const cameBack = heard.includes(topic);
    return {
      published,
      cameBack,
      subscribed: second.ok ? 'granted' : second.refused ? 'refused' : 'unknown',
      devicesHeard: new Set(others.filter((name) => name !== undefined && name !== absentDevice)).size,
    };
  }
  return null;
}

async function publish(
  { bus, protocol, hasRefused }: Extract<Login, { ok: true }>,
  topic: string,
  clock: Clock,
): Promise<IsolationFacts['published']> {
  bus.publish(topic, '{}', { qos: 1 });
  const end = clock.now() + ANSWER_LIMIT_MS;
  while (clock.now() < end && bus.outbox.depth > 0 && !hasRefused()) await sleep(clock, LOOK_EACH_MS);
  if (hasRefused()) return 'refused';
  return protocol === 5 && bus.outbox.depth === 0 ? 'taken' : 'unknown';
}
