/** Holds a test's virtual time until a broker in another process has handled everything sent to it. */
import { connect } from 'mqtt';

const TOPIC = 'test/fence';
/** One round trip lets the broker read earlier messages; the next one carries their answers through a relay. */
const ROUND_TRIPS = 3;

export interface Fence {
  /** Waits until the broker has answered everything sent so far, and the answers are here. */
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
