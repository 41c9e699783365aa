/** What `dragoman-backend doctor` says of a broker that sends no retained messages to a filter with a wildcard. */
import { afterEach, describe, expect, it } from 'vitest';
import type { Opened } from '../../../src/backend/config/open-config.ts';
import { checkBroker } from '../../../src/backend/verbs/doctor-checks.ts';
import { type Broker, type BrokerOptions, startBroker } from '../../../src/cli/demo/broker.ts';
import { createTestBuses } from '../../adapters/mqtt/test-buses.ts';
import { until } from '../../until.ts';

const TOPIC = 'dragoman/v1/backend/backend/token/res';

describe('the doctor of the backend', () => {
  let broker: Broker | null = null;
  const buses = createTestBuses();
  afterEach(async () => {
    await buses.closeAll();
    await broker?.close();
    broker = null;
  });
  const examine = async (options: BrokerOptions) => {
    broker = await startBroker(options);
    const mqtt = { url: broker.url, username: null, prefix: 'dragoman/v1', version: 'auto' };
    const finding = await checkBroker({ config: { mqtt }, secrets: {} } as unknown as Opened);
    return { finding, url: broker.url };
  };

  it('says so when the broker sends no retained messages to a wildcard', async () => {
    const { finding } = await examine({ sendsRetainedToWildcards: false });
    expect(finding).toMatchObject({ check: 'broker', verdict: 'ok', fix: null });
    expect(finding.finding).toMatch(
      /a message came back; it sends no retained messages to a filter with a wildcard/,
    );
  });

  it('says nothing of it when the broker sends them, and leaves no retained message', async () => {
    const { finding, url } = await examine({});
    expect(finding).toMatchObject({ verdict: 'ok', finding: expect.stringMatching(/a message came back$/) });
    const later = buses.open({ url, clientId: 'later' }, { subscriptions: [TOPIC, 'mark'] });
    await until(() => later.ups.length === 1, 'up');
    later.bus.publish('mark', 'x');
    await until(() => later.messages.some(({ topic }) => topic === 'mark'), 'the mark');
    expect(later.messages.map(({ topic }) => topic)).toEqual(['mark']);
  });

  it('says nothing of it when the broker does not let it try', async () => {
    const refused = { refusesFilter: (filter: string) => filter.includes('+') };
    const { finding } = await examine({ sendsRetainedToWildcards: false, ...refused });
    expect(finding).toMatchObject({ verdict: 'ok', finding: expect.stringMatching(/a message came back$/) });
  });
});
