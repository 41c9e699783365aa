import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { awaitRepair, type Unusable } from '../../../src/device/process/repair.ts';
import type { BusListener, BusOptions } from '../../../src/ports/bus.ts';
import type { Log } from '../../../src/ports/log.ts';
import { deviceTopics } from '../../../src/protocol/mqtt/topics.ts';
import { createVirtualClock } from '../../virtual-clock.ts';
import { createFakeInitSystem } from './fake-init-system.ts';

const BAD = 'config.json:3:5: lanes[0].echo: is "of"; did you mean "off"?';

function waiting(first: Partial<Unusable> = {}) {
  const clock = createVirtualClock();
  const service = createFakeInitSystem();
  const signals = new EventEmitter();
  const errors: unknown[] = [];
  const log: Log = {
    trace() {},
    debug() {},
    info() {},
    warn() {},
    error: (fields) => void errors.push(fields),
  };
  const buses: { options: BusOptions; listener: BusListener; said: unknown[] }[] = [];
  const address = { prefix: 'dragoman/v1', tenant: 'museum', device: 'kiosk-01' };
  const topics = deviceTopics(address);
  const broker: Unusable['broker'] = {
    fingerprint: 'one',
    address,
    groups: [],
    commandFile: null,
    openBus(options, listener) {
      const said: unknown[] = [];
      buses.push({ options, listener, said });
      return {
        connected: true,
        outbox: { depth: 0, dropped: 0 },
        budget: null,
        publish: (topic, payload) => void said.push({ topic, ...JSON.parse(payload) }),
        urgent() {},
        reconnect() {},
        close: async (finale) => void said.push(finale === undefined ? 'closed' : JSON.parse(finale.payload)),
      };
    },
  };
  const unusable = (more: Partial<Unusable> = {}): Unusable => ({
    problems: [BAD],
    key: 'lanes[0].echo',
    broker,
    ...more,
  });
  const notes: unknown[] = [];
  let now: Unusable | null = unusable(first);
  let looks = 0;
  const outcome = awaitRepair(unusable(first), {
    clock,
    log,
    signals,
    version: '9.9.9',
    bootId: 'boot',
    initSystem: service.initSystem,
    note: {
      written: Promise.resolve(),
      write: (note) => void notes.push(note),
      remove: async () => void notes.push('removed'),
    },
    look: () => {
      looks += 1;
      return now;
    },
  });
  return {
    clock,
    service,
    signals,
    errors,
    notes,
    buses,
    outcome,
    unusable,
    broker,
    topics,
    become(next: Unusable | null) {
      now = next;
    },
    get looks() {
      return looks;
    },
  };
}

describe('an unusable configuration', () => {
  it('keeps the program running, which logs the reason at once and once a minute', () => {
    const { clock, service, errors } = waiting();
    expect(service.told).toEqual([{ ready: true, status: `degraded (config): ${BAD}` }]);
    clock.advance(59_000);
    expect(errors).toEqual([{ problems: [BAD] }]);
    clock.advance(600_000);
    expect(errors.length).toBeGreaterThanOrEqual(10);
    expect(errors.length).toBeLessThanOrEqual(12);
    // The watchdog gets signs of life, and the status line is not repeated.
    expect(service.signs).toBe(32);
    expect(service.statuses).toHaveLength(1);
  });

  it('is read again every few seconds and at SIGHUP, and a usable one starts the agent', async () => {
    const { clock, become, outcome, signals, buses } = waiting();
    clock.advance(30_000);
    become(null);
    signals.emit('SIGHUP');
    expect(await outcome).toBe('repaired');
    expect(signals.eventNames()).toEqual([]);
    expect(buses[0]?.said).toEqual(['closed']);
    expect(clock.armed).toBe(0);

    const other = waiting();
    other.become(null);
    other.clock.advance(6000);
    expect(await other.outcome).toBe('repaired');
  });

  it('leaves a note for the doctor, until it can be used', async () => {
    const { notes, signals, become, outcome } = waiting();
    const note = {
      version: '9.9.9',
      status: 'degraded',
      reasons: ['config:lanes[0].echo'],
      broker: null,
      connectedSince: null,
    };
    expect(notes).toEqual([{ ...note, problem: BAD, config: {} }]);
    become(null);
    signals.emit('SIGHUP');
    expect(await outcome).toBe('repaired');
    expect(notes.at(-1)).toBe('removed');
  });

  it('is logged again when the fault changes', () => {
    const { clock, become, service, errors, unusable } = waiting();
    become(unusable({ problems: ['mqtt.caFile: cannot be read', 'more'], key: 'mqtt.caFile' }));
    clock.advance(6000);
    expect(service.statuses.at(-1)).toBe('degraded (config): mqtt.caFile: cannot be read (and 1 more)');
    expect(errors).toHaveLength(2);
  });

  it('is published when the broker settings are usable', async () => {
    const { buses, clock, become, unusable, broker, topics, signals, outcome } = waiting();
    expect(buses[0]?.options.will?.(1)).toMatchObject({ topic: topics.status });
    buses[0]?.listener.up(1, 5);
    expect(buses[0]?.said).toEqual([
      expect.objectContaining({
        topic: topics.status,
        status: 'degraded',
        reasons: ['config:lanes[0].echo'],
        conn_seq: 1,
      }),
    ]);
    // Other broker settings need another connection.
    if (broker === null) throw new Error('there is a broker');
    become(unusable({ problems: ['x'], broker: { ...broker, fingerprint: 'two' } }));
    clock.advance(6000);
    expect(buses).toHaveLength(2);
    expect(buses[0]?.said.at(-1)).toBe('closed');
    buses[1]?.listener.up(1, 5);
    signals.emit('SIGTERM');
    expect(await outcome).toBe('ended');
    expect(buses[1]?.said.at(-1)).toMatchObject({ status: 'offline', reasons: [] });
  });

  it('answers every command: `status` with the fault, the others with an error', async () => {
    const { buses, signals, outcome, topics } = waiting();
    const [bus] = buses;
    bus?.listener.up(1, 5);
    expect(bus?.options.subscriptions).toContainEqual({
      filter: topics.commands,
      qos: 1,
      mayBeRefused: true,
    });
    const send = (name: string, id: string, args: object = {}): unknown => {
      bus?.listener.message({
        topic: `${topics.base}/cmd/${name}`,
        retain: false,
        properties: {},
        payload: JSON.stringify({ id, args }),
      });
      return bus?.said.at(-1);
    };
    const refused = {
      topic: topics.commandResponse('start'),
      id: 'one',
      status: 'error',
      error: { code: 'config', message: expect.stringContaining(BAD) },
    };
    expect(send('start', 'one')).toMatchObject(refused);
    // The same command gets the same answer; another one under the same id is refused.
    expect(send('start', 'one')).toMatchObject(refused);
    expect(send('stop', 'one')).toMatchObject({ error: { code: 'id_reused' } });
    expect(send('volume', 'two', { percent: 500 })).toMatchObject({ error: { code: 'invalid_args' } });
    expect(send('status', 'three')).toMatchObject({
      id: 'three',
      status: 'ok',
      data: { status: 'degraded', reasons: ['config:lanes[0].echo'], version: '9.9.9', boot_id: 'boot' },
    });
    signals.emit('SIGTERM');
    expect(await outcome).toBe('ended');
  });

  it('ends at SIGTERM without any broker', async () => {
    const { signals, outcome, service, clock } = waiting({ broker: null });
    signals.emit('SIGTERM');
    expect(await outcome).toBe('ended');
    expect(service.told.at(-1)).toEqual({ stopping: true });
    expect(clock.armed).toBe(0);
  });
});
