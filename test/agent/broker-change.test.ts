import { describe, expect, it } from 'vitest';
import { createBrokers } from '../../src/agent/broker/broker-choice.ts';
import type { Config } from '../../src/protocol/config.ts';
import { createFakeDeps, testConfig } from './fake-deps.ts';
import { createMemoryFile } from './memory-file.ts';

const OLD = 'mqtts://old.example:8883';
const NEW = 'mqtts://new.example:8883';
const MINUTE_MS = 60_000;
const inTurn = () => new Promise((resolve) => setImmediate(resolve));
const configured = (url: string, more: object = {}): Config =>
  testConfig({ start: 'command' }, { mqtt: { url, caFile: 'ca.crt', ...more } });

/** A device configured for the broker `url`; the test acts as all brokers. */
async function device(url: string, kept = createMemoryFile(), gone = new Set<string>()) {
  const unreadable: unknown[] = [];
  const forgotten: string[][] = [];
  const brokers = createBrokers({
    ...{ mqtt: configured(url).mqtt, file: kept.file },
    connect(mqtt) {
      if (gone.has(mqtt.url)) throw new Error(`the files of ${mqtt.url} are gone`);
      return { url: mqtt.url, clientId: 'museum.kiosk-01' };
    },
    unreadable(error) {
      unreadable.push(error);
      return { key: 'mqtt.caFile', message: String(error) };
    },
    forgotten: (...what) => void forgotten.push(what),
  });
  const deps = createFakeDeps(configured(url), { brokers });
  await deps.agent.start();
  const event = (kind: string) => deps.sent(`event/broker_${kind}`).map(({ body }) => body);
  return {
    ...{ deps, brokers, kept, gone, unreadable, forgotten },
    changed: () => event('changed'),
    returned: () => event('returned'),
    reasons: () => deps.agent.publisher.status().reasons,
    /** Current target of the connection. */
    present: () => brokers.connection('present').url,
    sighup: (next: string, more: object = {}) => deps.agent.apply(configured(next, more)),
    /** The result of the current attempt. */
    async tried(problem: string | null) {
      const attempt = deps.attempts.at(-1);
      if (attempt === undefined) throw new Error('nothing is tried');
      attempt.done(problem);
      if (problem === null) deps.brokerUp(2);
      await inTurn();
    },
  };
}

/** Connected to the old broker while the configuration names the new one. */
async function changing() {
  const all = await device(OLD);
  all.deps.brokerUp();
  await inTurn();
  all.sighup(NEW);
  return all;
}

describe('another broker in the configuration', () => {
  it('is tried at once beside the old one; the old one gets a last status when the new one accepts the device', async () => {
    const { deps, tried, changed, reasons, present, kept, returned } = await changing();
    expect(deps.attempts).toHaveLength(1);
    expect(present()).toBe(OLD);
    expect(deps.attempts[0]?.finale).toMatchObject({
      ...{ topic: 'dragoman/v1/museum/kiosk-01/status', retain: true },
      payload: expect.stringContaining('"offline"') as string,
    });
    await tried(null);
    expect(present()).toBe(NEW);
    expect(changed()).toMatchObject([{ lane: null, from: OLD, to: NEW }]);
    expect(kept.text).toContain(NEW);
    expect(returned()).toEqual([]);
    expect(reasons().join()).not.toContain('broker');
    deps.clock.advance(60 * MINUTE_MS);
    expect(deps.attempts).toHaveLength(1);
  });

  it('is reported after a minute without success, and retried until it accepts the device', async () => {
    const { deps, tried, changed, returned, reasons, present } = await changing();
    for (let second = 0; second < 60; second += 10) {
      await tried('nothing listens there');
      expect(returned()).toEqual([]);
      deps.clock.advance(10_000);
      expect(deps.attempts).toHaveLength(second / 10 + 2);
    }
    await tried('nothing listens there');
    expect(returned()).toMatchObject([{ lane: null, from: NEW, to: OLD, message: 'nothing listens there' }]);
    expect(reasons()).toContain('broker:new.example:8883');
    expect(deps.agent.publisher.status().status).toBe('degraded');
    const before = deps.attempts.length;
    // 5 to 10 minutes; this device draws the middle.
    deps.clock.advance(7.5 * MINUTE_MS - 1);
    expect(deps.attempts).toHaveLength(before);
    deps.clock.advance(1);
    expect(deps.attempts).toHaveLength(before + 1);
    await tried('nothing listens there');
    expect(returned()).toHaveLength(1);
    expect(present()).toBe(OLD);
    deps.clock.advance(10 * MINUTE_MS);
    await tried(null);
    expect(changed()).toHaveLength(1);
    expect(reasons().join()).not.toContain('broker');
  });

  it('is tried more often while no broker accepts the device', async () => {
    const { deps, tried } = await changing();
    deps.bus.listener.down('unreachable', 'the old one is away');
    for (let tries = 0; tries < 7; tries += 1) {
      await tried('no answer');
      deps.clock.advance(10_000);
    }
    await tried('no answer');
    const before = deps.attempts.length;
    deps.clock.advance(MINUTE_MS);
    expect(deps.attempts.length).toBe(before + 1);
  });

  it('changes nothing when the configuration is read again unchanged', async () => {
    const { deps, tried, sighup, returned } = await changing();
    deps.clock.advance(50_000);
    sighup(NEW);
    await tried('no answer');
    deps.clock.advance(10_000);
    await tried('no answer');
    expect(returned()).toHaveLength(1);
    const { deps: quiet, sighup: again } = await device(OLD);
    quiet.brokerUp();
    expect(again(OLD)).toEqual([]);
    expect([quiet.attempts.length, quiet.reconnects]).toEqual([0, 0]);
  });

  it('is dropped when the configuration names the old one again', async () => {
    const { deps, tried, sighup, reasons, present } = await changing();
    deps.clock.advance(MINUTE_MS);
    await tried('no answer');
    expect(reasons().join()).toContain('broker:');
    sighup(OLD);
    expect(reasons().join()).not.toContain('broker');
    const before = deps.attempts.length;
    deps.clock.advance(60 * MINUTE_MS);
    expect(deps.attempts).toHaveLength(before);
    expect(present()).toBe(OLD);
    expect(deps.reconnects).toBe(0);
  });

  it('is replaced by a third one that is configured meanwhile', async () => {
    const { deps, tried, sighup, changed } = await changing();
    sighup('mqtts://third.example:8883');
    await tried(null);
    expect(changed()).toMatchObject([{ from: OLD, to: 'mqtts://third.example:8883' }]);
    expect(deps.agent.publisher.status().reasons.join()).not.toContain('broker');
  });

  it('may be another login at the same address', async () => {
    const { deps, sighup } = await device(OLD);
    deps.brokerUp();
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

describe('another broker in the configuration at the start', () => {
  const served = async () => {
    const { deps, kept } = await device(OLD);
    deps.brokerUp();
    await inTurn();
    expect(kept.writes).toHaveLength(1);
    return kept;
  };

  it('is used, and reported when it accepts the device', async () => {
    const { deps, changed, present, kept } = await device(NEW, await served());
    expect(present()).toBe(NEW);
    deps.brokerUp();
    await inTurn();
    expect(changed()).toMatchObject([{ from: OLD, to: NEW }]);
    deps.clock.advance(5 * MINUTE_MS);
    expect(deps.reconnects).toBe(0);
    const again = await device(NEW, kept);
    again.deps.brokerUp();
    await inTurn();
    expect(again.changed()).toEqual([]);
    expect(kept.writes).toHaveLength(2);
  });

  it('is replaced by the previous one after a minute without success, and retried', async () => {
    const { deps, returned, present, reasons, tried, changed } = await device(NEW, await served());
    deps.bus.listener.down('refused', 'not authorized');
    deps.clock.advance(MINUTE_MS - 1);
    expect(present()).toBe(NEW);
    deps.clock.advance(1);
    expect(present()).toBe(OLD);
    expect(deps.reconnects).toBe(1);
    deps.brokerUp();
    expect(returned()).toMatchObject([{ from: NEW, to: OLD, message: 'not authorized' }]);
    expect(reasons()).toContain('broker:new.example:8883');
    deps.clock.advance(10 * MINUTE_MS);
    await tried(null);
    expect(changed()).toHaveLength(1);
    expect(present()).toBe(NEW);
  });

  it('has no fallback when the files of the previous one are missing', async () => {
    const kept = await served();
    const { deps, present, returned } = await device(NEW, kept, new Set([OLD]));
    deps.clock.advance(5 * MINUTE_MS);
    expect(present()).toBe(NEW);
    expect(returned()).toEqual([]);
  });

  it.each(['{', '{"format":1}', '{"format":1,"mqtt":{"url":"ftp://x"}}'])(
    'has no fallback when the kept file is damaged: %s',
    async (text) => {
      const kept = createMemoryFile();
      kept.fill(text);
      const { deps, present, brokers } = await device(NEW, kept);
      expect(brokers.previous).toBeNull();
      deps.clock.advance(5 * MINUTE_MS);
      expect(present()).toBe(NEW);
    },
  );

  it('uses the last contents of a file that becomes unreadable', async () => {
    const { gone, present, unreadable } = await device(OLD, await served());
    present();
    gone.add(OLD);
    expect(present()).toBe(OLD);
    expect(unreadable).toHaveLength(1);
  });

  it('knows the previous one once a slow disk delivers it, and reports an unreadable file', async () => {
    const kept = await served();
    kept.delay();
    const { brokers, forgotten } = await device(NEW, kept);
    expect(brokers.previous).toBeNull();
    kept.bring();
    expect(brokers.previous).toContain('old.example');
    expect(forgotten).toEqual([['state/memory.json', 'the disk takes too long']]);
    kept.fill('{');
    expect((await device(NEW, kept)).forgotten).toEqual([['state/memory.json', 'it is damaged']]);
  });

  it('stores the connected broker as the last one, whatever a slow disk delivers later', async () => {
    const kept = await served();
    kept.delay();
    const { brokers, deps } = await device(NEW, kept);
    deps.brokerUp();
    await inTurn();
    kept.bring();
    expect(brokers.previous).toBeNull();
  });

  it('reports that the last broker is not saved when the disk is full', async () => {
    const kept = createMemoryFile();
    kept.fail('the disk is full');
    const { deps } = await device(OLD, kept);
    deps.brokerUp();
    await inTurn();
    expect(deps.logged.flat()).toContain('the last used broker will not survive a restart');
  });
});
