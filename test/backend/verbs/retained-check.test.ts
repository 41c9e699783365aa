/** What `dragoman-backend doctor` says of a broker that sends no retained messages to a filter with a wildcard. */
import { afterEach, describe, expect, it } from 'vitest';
import type { Opened } from '../../../src/backend/config/open-config.ts';
import { checkBroker } from '../../../src/backend/verbs/doctor-checks.ts';
import { type Broker, type BrokerOptions, startBroker } from '../../../src/cli/demo/broker.ts';
import { findMosquitto, findOpenssl } from '../../adapters/mqtt/mosquitto.ts';
import { createTestBuses } from '../../adapters/mqtt/test-buses.ts';
import { needs } from '../../needs.ts';
import { until } from '../../until.ts';
import { type Form, type SetUp, setUpBroker } from '../broker/set-up-broker.ts';

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

const missing = findMosquitto() === null || !findOpenssl();
const FORMS: readonly Form[] = ['dynsec', 'acl'];

describe.each(FORMS)(
  'a mosquitto of "broker init" (%s)',
  needs(missing && 'needs mosquitto, openssl'),
  (form) => {
    it('is not taken for a broker without retained messages', async () => {
      const broker: SetUp = await setUpBroker(form, 'password');
      try {
        await broker.start();
        const { ca, username, password } = broker.options('backend');
        const opened = {
          config: {
            mqtt: {
              url: `mqtts://127.0.0.1:${broker.peoplePort}`,
              username,
              prefix: 'dragoman/v1',
              version: 'auto',
            },
          },
          secrets: { mqttPassword: () => String(password), brokerTls: { ca } },
        };
        const finding = await checkBroker(opened as unknown as Opened);
        expect(finding).toMatchObject({
          verdict: 'ok',
          finding: expect.stringMatching(/a message came back$/),
        });
      } finally {
        await broker.close();
      }
    });
  },
);
