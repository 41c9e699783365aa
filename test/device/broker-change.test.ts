import { describe, expect, it } from 'vitest';
import { createBrokers } from '../../src/device/broker/broker-choice.ts';
import type { Config } from '../../src/protocol/config.ts';
import { createFakeDeps, testConfig } from './fake-deps.ts';

const OLD = 'mqtts://old.example:8883';
const NEW = 'mqtts://new.example:8883';
const MINUTE_MS = 60_000;
const configured = (url: string, more: object = {}): Config =>
  testConfig({ start: 'command' }, { mqtt: { url, caFile: 'ca.crt', ...more } });

/** A device configured for the broker `url`; the test acts as all brokers. */
async function device(url: string) {
  const gone = new Set<string>();
  const unreadable: unknown[] = [];
  const brokers = createBrokers({
    mqtt: configured(url).mqtt,
    connect(mqtt) {
      if (gone.has(mqtt.url)) throw new Error(`the files of ${mqtt.url} are gone`);
      return { url: mqtt.url, clientId: 'museum.kiosk-01' };
    },
    unreadable(error) {
      unreadable.push(error);
      return { key: 'mqtt.caFile', message: String(error) };
    },
  });
  const deps = createFakeDeps(configured(url), { brokers });
  await deps.agent.start();
  const event = (kind: string) => deps.sent(`event/broker_${kind}`).map(({ body }) => body);
  return {
    deps,
    gone,
    unreadable,
    changed: () => event('changed'),
    returned: () => event('returned'),
    reasons: () => deps.agent.publisher.status().reasons,
    /** Current target of the connection. */
    present: () => brokers.connection('present').url,
    sighup: (next: string, more: object = {}) => deps.agent.apply(configured(next, more)),
    /** The result of the current attempt. */
    tried(problem: string | null) {
      const attempt = deps.attempts.at(-1);
      if (attempt === undefined) throw new Error('nothing is tried');
      attempt.done(problem);
      if (problem === null) deps.brokerUp(2);
    },
  };
}

/** Connected to the old broker while the configuration names the new one. */
async function changing() {
  const all = await device(OLD);
  all.deps.brokerUp();
  all.sighup(NEW);
  return all;
}

describe('another broker in the configuration', () => {
  it('is tried at once beside the old one; the old one gets a last status when the new one accepts the device', async () => {
    const { deps, tried, changed, reasons, present, returned } = await changing();
    expect(deps.attempts).toHaveLength(1);
    expect(present()).toBe(OLD);
    expect(deps.attempts[0]?.finale).toMatchObject({
      topic: 'dragoman/v1/museum/kiosk-01/status',
      retain: true,
      payload: expect.stringContaining('"offline"') as string,
    });
    tried(null);
    expect(present()).toBe(NEW);
    expect(changed()).toMatchObject([{ lane: null, from: OLD, to: NEW }]);
    expect(returned()).toEqual([]);
    expect(reasons().join()).not.toContain('broker');
    deps.clock.advance(60 * MINUTE_MS);
    expect(deps.attempts).toHaveLength(1);
  });

  it('is reported at the old one once when it does not accept the device, and retried until it does', async () => {
    const { deps, tried, changed, returned, reasons, present } = await changing();
    expect(returned()).toEqual([]);
    tried('nothing listens there');
    expect(returned()).toMatchObject([{ lane: null, from: NEW, to: OLD, message: 'nothing listens there' }]);
    expect(reasons()).toContain('broker:new.example:8883');
    expect(deps.agent.publisher.status().status).toBe('degraded');
    expect([present(), deps.attempts.length]).toEqual([OLD, 1]);
    deps.clock.advance(MINUTE_MS);
    expect(deps.attempts.length).toBeGreaterThan(1);
    tried(null);
    expect(changed()).toHaveLength(1);
    expect(reasons().join()).not.toContain('broker');
  });

  it('is dropped when the configuration names the old one again', async () => {
    const { deps, tried, sighup, reasons, present } = await changing();
    tried('no answer');
    expect(reasons().join()).toContain('broker:');
    sighup(OLD);
    expect(reasons().join()).not.toContain('broker');
    const before = deps.attempts.length;
    deps.clock.advance(60 * MINUTE_MS);
    expect([present(), deps.attempts.length, deps.reconnects]).toEqual([OLD, before, 0]);
  });

  it('is not accepted or refused by the result of an earlier login at the same address', async () => {
    for (const problem of [null, 'not authorized']) {
      const { deps, sighup, changed, returned } = await changing();
      sighup(NEW, { username: 'somebody', passwordFile: 'new-password' });
      deps.attempts[0]?.done(problem);
      expect([changed(), returned()]).toEqual([[], []]);
      expect([deps.reconnects, deps.attempts.length > 2]).toEqual(problem === null ? [1, false] : [0, true]);
    }
  });

  it('may be another login at the same address', async () => {
    const { deps, sighup } = await device(OLD);
    deps.brokerUp();
    sighup(OLD);
    expect(deps.attempts).toEqual([]);
    sighup(OLD, { username: 'somebody', passwordFile: 'new-password' });
    expect(deps.attempts).toHaveLength(1);
  });

  it('is used at once when no broker has accepted the device before', async () => {
    const { deps, sighup, present, reasons } = await device(OLD);
    deps.bus.listener.down('unreachable', 'nothing listens there');
    sighup(NEW);
    expect(present()).toBe(NEW);
    expect(deps.reconnects).toBe(1);
    expect(deps.attempts).toEqual([]);
    expect(reasons().join()).not.toContain('broker');
  });

  it('requires a restart only when the prefix changes', async () => {
    const { deps } = await device(OLD);
    expect(deps.agent.apply(configured(OLD, { prefix: 'other' }))).toEqual(['mqtt.prefix']);
    expect(deps.agent.apply(configured(NEW, { prefix: 'other' }))).toEqual(['mqtt.prefix']);
    expect(deps.agent.apply(configured(NEW))).toEqual([]);
  });
});

describe('the configured broker after a restart', () => {
  it('is the only one, whichever accepted the device before', async () => {
    const { deps, present, returned, changed } = await device(NEW);
    for (let minute = 0; minute < 10; minute += 1) {
      deps.bus.listener.down('refused', 'not authorized');
      deps.clock.advance(MINUTE_MS);
    }
    expect([present(), deps.attempts.length, deps.reconnects]).toEqual([NEW, 0, 0]);
    deps.brokerUp();
    expect([returned(), changed()]).toEqual([[], []]);
  });

  it('is reached with the last contents of a file that becomes unreadable', async () => {
    const { gone, present, unreadable } = await device(OLD);
    present();
    gone.add(OLD);
    expect(present()).toBe(OLD);
    expect(unreadable).toHaveLength(1);
  });
});
