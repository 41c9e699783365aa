import { connectAsync } from 'mqtt';
import type { Broker } from '../../src/cli/demo/broker.ts';
import type { LatencySummary } from '../../src/device/lane/runner/latency.ts';

/** The agent's own measurements. */
export interface OwnAccount {
  readonly capture_to_wire_ms: LatencySummary | null;
  readonly wire_to_speaker_ms: LatencySummary | null;
  readonly [count: string]: unknown;
}

const DEVICE = 'dragoman/v1/bench/kiosk-01';
const ANSWER_LIMIT_MS = 10_000;

/** Asks the agent for its status, as an operator does. */
export async function askStatus(broker: Broker): Promise<OwnAccount> {
  const client = await connectAsync(broker.url, { reconnectPeriod: 0 });
  try {
    await client.subscribeAsync(`${DEVICE}/cmd/status/res`);
    const answered = new Promise<string>((resolve, reject) => {
      const limit = setTimeout(() => reject(new Error('the agent did not answer "status"')), ANSWER_LIMIT_MS);
      client.on('message', (_topic, payload) => {
        clearTimeout(limit);
        resolve(payload.toString());
      });
    });
    const request = { id: `bench-${process.hrtime.bigint()}`, args: {} };
    await client.publishAsync(`${DEVICE}/cmd/status`, JSON.stringify(request), { qos: 1 });
    const answer = JSON.parse(await answered) as { data?: { audio?: OwnAccount[] } };
    const account = answer.data?.audio?.[0];
    if (account === undefined) throw new Error('the agent\'s "status" contains no audio figures');
    return account;
  } finally {
    await client.endAsync();
  }
}
