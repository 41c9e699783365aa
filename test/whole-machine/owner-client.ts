/** The owner's client: the administrator Anna at the broker, and HTTP requests that control the emulator. */
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { connectAsync } from 'mqtt';
import { until } from '../nspawn/kiosk.ts';

export const DEVICE = 'dragoman/v1/museum/kiosk-01';
/** Wait for an answer (ms), long enough for slow machines. */
const ANSWER_LIMIT_MS = 60_000;

export interface Message {
  /** Topic below the device's. */
  readonly topic: string;
  readonly text: string;
  /** Time by `performance.now()`. */
  readonly atMs: number;
}

export interface OwnerClient {
  /** All messages of the device since the start or `forget`. */
  readonly messages: readonly Message[];
  forget(): void;
  /** The newest message of a topic below the device's, since the start or `forget`. */
  newest(topic: string): Record<string, unknown> | null;
  /** The device's final answer; null if there is none. */
  command(name: string, args?: object, patienceMs?: number): Promise<Record<string, unknown> | null>;
  publish(topic: string, payload: string | object, retain?: boolean): Promise<void>;
  end(): Promise<void>;
}

/** @param login folder of Anna's login */
export async function watch(port: number, login: string, host = '127.0.0.1'): Promise<OwnerClient> {
  const mqtt = await connectAsync({
    protocol: 'mqtts',
    host,
    port,
    protocolVersion: 5,
    username: 'anna',
    reconnectPeriod: 500,
    ca: readFileSync(join(login, 'broker-ca.crt')),
    password: readFileSync(join(login, 'mqtt-password')),
    clientId: `anna-${process.pid}`,
  });
  const messages: Message[] = [];
  let commands = 0;
  mqtt.on('error', () => {});
  mqtt.on('message', (topic, payload) => {
    if (payload.length === 0) return;
    messages.push({
      topic: topic.slice(DEVICE.length + 1),
      text: payload.toString(),
      atMs: performance.now(),
    });
  });
  const topics = ['status', 'state', 'health', 'event/+', 'config/reported', 'cmd/+/res'];
  await mqtt.subscribeAsync(topics.map((topic) => `${DEVICE}/${topic}`));
  const newest = (topic: string): Record<string, unknown> | null => {
    const found = messages.findLast((message) => message.topic === topic);
    return found === undefined ? null : JSON.parse(found.text);
  };
  const publish: OwnerClient['publish'] = async (topic, payload, retain = false) => {
    const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
    await mqtt.publishAsync(`${DEVICE}/${topic}`, text, { qos: 1, retain });
  };
  return {
    messages,
    newest,
    publish,
    forget: () => void messages.splice(0),
    async command(name, args = {}, patienceMs = ANSWER_LIMIT_MS) {
      commands += 1;
      const id = `test-${process.pid}-${commands}`;
      await publish(`cmd/${name}`, { id, args });
      const find = () =>
        messages
          .filter(({ topic }) => topic === `cmd/${name}/res`)
          .map(({ text }) => JSON.parse(text))
          .find((answer) => answer.id === id && answer.status !== 'accepted');
      await until('an answer', async () => find() !== undefined, patienceMs).catch(() => {});
      return find() ?? null;
    },
    end: () => mqtt.endAsync(true),
  };
}

/** @param body posted as JSON; without it a GET is sent */
export function ask(port: number, ca: Buffer, path: string, body?: object): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        host: '127.0.0.1',
        port,
        path,
        ca,
        method: body === undefined ? 'GET' : 'POST',
        headers: body === undefined ? {} : { 'content-type': 'application/json' },
      },
      (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('end', () => {
          const whole = Buffer.concat(parts);
          if (answer.statusCode === 200) resolve(whole);
          else reject(new Error(`${path}: ${answer.statusCode} ${whole.toString().slice(0, 300)}`));
        });
      },
    );
    asked.on('error', reject);
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
