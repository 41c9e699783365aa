import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { findMosquitto, type Mosquitto, startMosquitto } from '../adapters/mqtt/mosquitto.ts';
import { needs } from '../needs.ts';
import { until } from '../until.ts';
import {
  API_KEY,
  errorOf,
  type Fixture,
  type FixtureOptions,
  fixtureOfEachTest,
  PREFIX,
  sessionOf,
  startFixture,
} from './backend-on-loopback.ts';

let mosquitto: Mosquitto | null = null;
afterEach(async () => {
  await mosquitto?.close();
  mosquitto = null;
});
// Hooks run in reverse order: later registrations close first.
const { start, sessionsAtService } = fixtureOfEachTest();

/** One fixture for all tests of a list. */
function sharedFixture(begin: () => Promise<Fixture>) {
  let fixture: Fixture | null = null;
  let devices = 0;
  beforeAll(async () => {
    fixture = await begin();
  });
  afterAll(() => fixture?.close());
  const shared = (): Fixture => {
    if (fixture === null) throw new Error('it has not begun');
    return fixture;
  };
  return {
    shared,
    another: () => `kiosk-${++devices}`,
    sessions: () => shared().emulator?.service.sessions.list(['temporary']) ?? [],
  };
}

describe('backend under hostile requests', () => {
  it('takes the identity of the sender from the topic only', async () => {
    const fixture = await start();
    const forged = { tenant: 'museum', device: 'victim', client_reference_id: 'museum/victim/main' };
    expect(sessionOf(await fixture.ask('kiosk', 'r1', forged))['client_reference_id']).toBe(
      'museum/kiosk/main',
    );
    expect(fixture.answersTo('victim')).toEqual([]);
  });

  it('does not answer a retained request', async () => {
    const fixture = await start();
    fixture.send('kiosk', fixture.request('old'), { retain: true });
    await fixture.settle();
    const answered = fixture.answersTo('kiosk').length;
    await fixture.backend.close();
    const again = await startFixture({ brokerUrl: fixture.brokerUrl });
    await again.settle();
    expect(again.answersTo('kiosk')).toEqual([]);
    expect(answered).toBeLessThanOrEqual(1);
    await again.close();
  });

  it('limits sessions and answers for a flooding device, and still serves other devices', async () => {
    const fixture = await start({ config: { limits: { burst: 4, perMinute: 6 } } });
    for (let index = 0; index < 300; index += 1) {
      fixture.send('kiosk', fixture.request(`r${index}`, { lane: `lane-${index % 20}` }));
    }
    sessionOf(await fixture.ask('calm', 'r1'));
    await fixture.settle();
    expect(sessionsAtService().length).toBeLessThanOrEqual(6);
    expect(fixture.answersTo('kiosk').length).toBeLessThanOrEqual(20);
    expect(fixture.lines.filter((line) => line.includes('too many requests from one device'))).toHaveLength(
      1,
    );
  });
});

/** One backend for each table; each row uses a new device. */
describe('backend under hostile topics and fields', () => {
  const { shared, another, sessions } = sharedFixture(() => startFixture());

  it.each([
    ['one level more', `${PREFIX}/museum/kiosk/token/req/more`],
    ['one level less', `${PREFIX}/museum/token/req`],
    ['another verb', `${PREFIX}/museum/kiosk/token/res`],
    ['a device name with capitals', `${PREFIX}/museum/Kiosk/token/req`],
    ['a device name with spaces and quotes', `${PREFIX}/museum/a "b"/token/req`],
    ['another prefix', 'other/v1/museum/kiosk/token/req'],
  ])('does not answer on an invalid topic: %s', async (_name, topic) => {
    const fixture = shared();
    fixture.bus.publish(topic, fixture.request('evil'));
    await fixture.settle();
    expect(sessions()).toHaveLength(0);
    const answers = fixture.witness.messages.filter(({ payload }) => payload.includes('"ok"'));
    expect(answers.filter(({ payload }) => payload.includes('evil'))).toEqual([]);
  });

  it.each([
    [{ lane: '../../etc' }, /lane/],
    [{ lane: 'main/../other' }, /lane/],
    [{ intent: 'everything' }, /intent/],
    [{ attempt: 0 }, /attempt/],
    [{ reason: 'because' }, /reason/],
  ])('names the field when a request is invalid: %j', async (more, words) => {
    const fixture = shared();
    const error = errorOf(await fixture.ask(another(), 'r1', more));
    expect(error).toMatchObject({ code: 'invalid_request', final: true });
    expect(error.detail).toMatch(words);
    expect(sessions()).toHaveLength(0);
  });
});

describe('backend under messages that are not requests', () => {
  const { shared, another } = sharedFixture(() => startFixture());

  it.each([
    ['no JSON', '{"id":'],
    ['bytes', '\u0000\ufffd\u0001'],
    ['an array', '[1,2,3]'],
    ['null', 'null'],
    ['a number', '5'],
    ['no id', '{"lane":"main"}'],
    ['an empty id', '{"id":"","lane":"main"}'],
    ['an id of 10 kB', JSON.stringify({ id: 'x'.repeat(10_000) })],
    ['100 kB', JSON.stringify({ id: 'r', lane: 'main', padding: 'x'.repeat(100_000) })],
    ['a million brackets', '['.repeat(50_000)],
  ])('ignores %s and continues', async (_name, payload) => {
    const fixture = shared();
    const [device, before] = [another(), fixture.lines.length];
    fixture.send(device, payload);
    await fixture.settle();
    expect(fixture.answersTo(device)).toEqual([]);
    expect(fixture.lines.slice(before).some((line) => line.includes('message ignored'))).toBe(true);
    sessionOf(await fixture.ask(device, 'good'));
  });
});

describe('backend and secrets', () => {
  it('keeps keys out of logs and messages, and sends tokens on token/res only', async () => {
    const fixture = await start();
    const tokens = [
      sessionOf(await fixture.ask('kiosk', 'r1')),
      sessionOf(await fixture.ask('kiosk', 'r2', { reason: 'refused', attempt: 2 })),
      sessionOf(await fixture.ask('other', 'r1')),
    ];
    fixture.send('kiosk', '{"id":');
    await fixture.ask('kiosk', 'r3', { lane: '?' });
    fixture.emulator?.fault({ kind: 'http', status: 500 });
    await fixture.ask('third', 'r1');
    fixture.emulator?.fault({ kind: 'http', answer: 'garbage' });
    await fixture.ask('fourth', 'r1');
    await fixture.backend.close();

    expect(fixture.lines.length).toBeGreaterThan(8);
    const everywhere = [
      ...fixture.lines,
      ...fixture.witness.messages.map(({ topic, payload }) => topic + payload),
    ].join('\n');
    expect(everywhere).not.toContain(API_KEY);
    const elsewhere = [
      ...fixture.lines,
      ...fixture.witness.messages
        .filter(({ topic }) => !topic.endsWith('/token/res'))
        .map(({ payload }) => payload),
    ].join('\n');
    for (const { token, id } of tokens) {
      expect(token.length).toBeGreaterThan(10);
      expect(everywhere).toContain(token);
      expect(elsewhere).not.toContain(token);
      expect(elsewhere).not.toContain(id);
    }
  });
});

const command = findMosquitto();
const ROOT_USER = process.getuid?.() === 0 ? ['user root'] : [];
if (command === null) {
  it('backend over MQTT 5', needs('needs mosquitto'), () => {});
} else {
  describe('backend over mosquitto (MQTT 5)', () => {
    const startHere = async (options: FixtureOptions = {}): Promise<Fixture> => {
      mosquitto = await startMosquitto(command, () => [...ROOT_USER, 'allow_anonymous true']);
      return start({ ...options, brokerUrl: mosquitto.url });
    };

    it('copies correlation data and answers at or below token/res', async () => {
      const fixture = await startHere();
      const correlationData = Uint8Array.from([1, 2, 254, 255]);
      const responseTopic = `${PREFIX}/museum/kiosk/token/res/lane-1`;
      fixture.send('kiosk', fixture.request('r1'), {
        properties: { correlationData, responseTopic, expiryS: 20 },
      });
      await until(() => fixture.witness.messages.some(({ topic }) => topic === responseTopic), 'the answer');
      const answer = fixture.witness.messages.find(({ topic }) => topic === responseTopic);
      expect([...(answer?.properties.correlationData ?? [])]).toEqual([1, 2, 254, 255]);
      expect(answer?.properties.expiryS).toBeLessThanOrEqual(30);
      expect(fixture.answersTo('kiosk')).toEqual([]);
    });

    it('answers each request once when a second backend shares the load', async () => {
      const fixture = await startHere();
      const second = await startFixture({
        brokerUrl: fixture.brokerUrl,
        ...(fixture.emulator && { serviceUrl: fixture.emulator.url }),
      });
      for (let index = 0; index < 12; index += 1) fixture.send(`d-${index}`, fixture.request('r1'));
      const answered = () => Array.from({ length: 12 }, (_, index) => fixture.answersTo(`d-${index}`).length);
      await until(() => answered().every((count) => count > 0), 'the answers');
      await fixture.settle();
      expect(answered()).toEqual(Array.from({ length: 12 }, () => 1));
      const grants = (lines: string[]) => lines.filter((line) => line.includes('session granted')).length;
      expect(grants(fixture.lines) + grants(second.lines)).toBe(12);
      expect(Math.min(grants(fixture.lines), grants(second.lines))).toBeGreaterThan(0);
      await second.close();
    });
  });

  describe('backend over mosquitto (MQTT 5): response topics', () => {
    let own: Mosquitto | null = null;
    afterAll(() => own?.close());
    const { shared, another } = sharedFixture(async () => {
      own = await startMosquitto(command, () => [...ROOT_USER, 'allow_anonymous true']);
      return startFixture({ brokerUrl: own.url });
    });

    it.each([
      ['of another device', () => `${PREFIX}/museum/spy/token/res`],
      ['of another tenant', (device: string) => `${PREFIX}/spies/${device}/token/res`],
      ['outside the prefix', () => 'other/ear'],
      ['that others read', (device: string) => `${PREFIX}/museum/${device}/event/token`],
      ['that is a command', (device: string) => `${PREFIX}/museum/${device}/cmd/restart`],
      ['with the same beginning only', (device: string) => `${PREFIX}/museum/${device}/token/result`],
    ])('answers on token/res when the response topic is one %s', async (_name, topicOf) => {
      const fixture = shared();
      const [device, before] = [another(), fixture.lines.length];
      fixture.send(device, fixture.request('r1'), { properties: { responseTopic: topicOf(device) } });
      await until(() => fixture.answersTo(device).length === 1, 'the answer');
      const { token } = sessionOf(fixture.answersTo(device)[0] as never);
      const carriers = fixture.witness.messages.filter(({ payload }) => payload.includes(token));
      expect(carriers.map(({ topic }) => topic)).toEqual([`${PREFIX}/museum/${device}/token/res`]);
      expect(fixture.lines.slice(before).some((line) => line.includes('response topic ignored'))).toBe(true);
    });
  });
}
