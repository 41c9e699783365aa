/** Holds a test's virtual time until a broker in another process has dealt with what was sent to it. */
import { connect } from 'mqtt';

const TOPIC = 'test/fence';
/** One lets the broker read what others sent before; their answers pass a relay with the next. */
const ROUND_TRIPS = 3;

export interface Fence {
  /** However slow the machine: what was sent to the broker so far has been answered, and the answers are here. */
  pass(): Promise<void>;
  close(): Promise<void>;
}

export async function createFence(url: string): Promise<Fence> {
  const client = connect(url, { clientId: 'fence', protocolVersion: 5, reconnectPeriod: 0 });
  let arrived = (): void => {};
  client.on('message', () => arrived());
  await new Promise<void>((resolve, reject) => client.once('connect', () => resolve()).once('error', reject));
  await client.subscribeAsync(TOPIC);
  const roundTrip = (): Promise<void> =>
    new Promise((resolve, reject) => {
      arrived = resolve;
      client.publish(TOPIC, '', (error) => error && reject(error));
    });
  return {
    async pass() {
      for (let trip = 0; trip < ROUND_TRIPS; trip += 1) await roundTrip();
    },
    close: () => client.endAsync(true),
  };
}
