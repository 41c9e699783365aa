/** 200 kiosks in virtual time, as the backend hears them: they get orders, download, wait for a pause, switch and are watched. */

import { seededRandom } from '../../../src/core/random.ts';
import { GATE } from '../../../src/core/update/health-gate.ts';
import type { Bus, BusListener, OpenBus, PublishOptions } from '../../../src/ports/bus.ts';
import type { Store } from '../../../src/ports/store.ts';
import type { UpdateReport } from '../../../src/protocol/common/update.ts';
import type { VirtualClock } from '../../virtual-clock.ts';
import { deviceSum } from '../bill/bill-lines.ts';

export const PREFIX = 'dragoman/v1';
const MINUTE = 60_000;
const CONVERSATIONS_AN_HOUR = 12;

/** What a version does on a device: `good` is confirmed, `crashes` and `deaf` are rolled back, `loses` is confirmed and loses speech. */
export type Behaviour = 'good' | 'crashes' | 'deaf' | 'loses';

export interface SimulatedDevice {
  readonly name: string;
  version: string;
  boot: number;
  isOn: boolean;
  lostMs: number;
  update: UpdateReport;
  readonly orders: {
    at: number;
    id: string;
    args: Record<string, unknown>;
    options: PublishOptions | undefined;
  }[];
  /** Versions that have run on it. */
  readonly ran: Set<string>;
}

export interface SimulatedFleet {
  readonly devices: readonly SimulatedDevice[];
  readonly openBus: OpenBus;
  /** A minute of each conversation is billed. */
  readonly conversed: readonly { readonly device: string; readonly at: number }[];
  readonly ledger: Pick<Store, 'sums'>;
  /** Open connections of backends. */
  readonly connections: number;
  switch(device: SimulatedDevice, isOn: boolean): void;
  /** The backends that are connected now lose the broker. */
  cut(): void;
}

const IDLE: UpdateReport = { state: 'idle', from: null, to: null, reason: null, progress: null };

export function createSimulatedFleet(options: {
  readonly clock: VirtualClock;
  readonly count: number;
  readonly behaves: (index: number, version: string) => Behaviour;
}): SimulatedFleet {
  const { clock, count, behaves } = options;
  const random = seededRandom(1);
  const ears = new Set<BusListener>();
  const devices = Array.from(
    { length: count },
    (_, index): SimulatedDevice => ({
      name: `museum/kiosk-${String(index + 1).padStart(3, '0')}`,
      version: '1.2.0',
      boot: 1,
      isOn: true,
      lostMs: 0,
      update: IDLE,
      orders: [],
      ran: new Set(['1.2.0']),
    }),
  );
  const byName = new Map(devices.map((device) => [device.name, device]));

  const say = (topic: string, body: object, retain: boolean, to: Iterable<BusListener> = ears): void => {
    const message = { topic: `${PREFIX}/${topic}`, payload: JSON.stringify(body), retain, properties: {} };
    for (const listener of to) listener.message(message);
  };
  const tell = (device: SimulatedDevice, to?: readonly BusListener[]): void => {
    const { name, version, boot, lostMs, update, isOn } = device;
    const status = isOn ? 'ready' : 'lost';
    const lanes = [{ id: 'main', phase: 'live', speech_lost_ms: lostMs, unspoken_ms: 0 }];
    say(`${name}/status`, { ts: null, status, version, reasons: [], boot_id: `${boot}` }, true, to);
    say(`${name}/state`, { ts: null, boot_id: `${boot}`, lanes, update }, true, to);
  };
  const after = (device: SimulatedDevice, ms: number, act: () => void): void => {
    clock.at(clock.now() + ms, () => {
      act();
      tell(device);
    });
  };
  const start = (device: SimulatedDevice, version: string): void => {
    device.version = version;
    device.ran.add(version);
    device.boot += 1;
    device.lostMs = 0;
  };
  const report = (
    device: SimulatedDevice,
    state: UpdateReport['state'],
    reason: string | null = null,
  ): void => {
    device.update = { ...device.update, state, reason };
  };

  const obey = (device: SimulatedDevice, version: string): void => {
    const from = device.version;
    if (from === version) return;
    const behaviour = behaves(devices.indexOf(device), version);
    device.update = { ...IDLE, state: 'downloading', from, to: version };
    tell(device);
    const readyAt = (0.3 + random()) * MINUTE;
    const pauseAt = readyAt + random() * 20 * MINUTE;
    after(device, readyAt, () => report(device, 'ready', 'it waits until nobody speaks'));
    after(device, pauseAt, () => {
      start(device, version);
      report(device, 'confirming');
    });
    const watch = { crashes: 40_000, deaf: GATE.hearMs, good: GATE.watchMs, loses: GATE.watchMs }[behaviour];
    after(device, pauseAt + watch + random() * 20_000, () => {
      if (behaviour === 'good' || behaviour === 'loses') return report(device, 'done');
      start(device, from);
      report(device, 'rolled_back', `version ${version} was rolled back: it ended 3 times within 40 s`);
    });
  };

  const conversed: { device: string; at: number }[] = [];
  const sums: Store['sums'] = async (from, to) => {
    const counts = new Map<string, number>();
    for (const { device, at } of conversed)
      if (at >= from && at < to) counts.set(device, (counts.get(device) ?? 0) + 1);
    return [...counts].map(([device, count]) => deviceSum(device, { ms: count * MINUTE }));
  };

  const live = (): void => {
    clock.at(clock.now() + MINUTE, () => {
      devices.forEach((device, index) => {
        if (!device.isOn) return;
        const lost = behaves(index, device.version) === 'loses' ? 500 : random() < 0.02 ? 300 : 0;
        if (lost > 0) {
          device.lostMs += lost;
          tell(device);
        }
        if (random() >= CONVERSATIONS_AN_HOUR / 60) return;
        conversed.push({ device: device.name, at: clock.wall() ?? 0 });
        say(`${device.name}/event/conversation_ended`, { ts: null, duration_s: 60 }, false);
      });
      live();
    });
  };
  live();

  const openBus: OpenBus = (_, listener) => {
    ears.add(listener);
    clock.at(clock.now() + 50, () => {
      listener.up(1, 5);
      for (const device of devices) tell(device, [listener]);
    });
    return {
      connected: true,
      outbox: { depth: 0, dropped: 0 },
      publish(topic, payload, given) {
        const [tenant, id, , command] = topic.slice(PREFIX.length + 1).split('/');
        const device = byName.get(`${tenant}/${id}`);
        given?.ended?.(true);
        if (device === undefined || !device.isOn || command !== 'update') return;
        const { id: order, args } = JSON.parse(payload);
        device.orders.push({ at: clock.now(), id: order, args, options: given });
        after(device, 200, () => {
          say(`${device.name}/cmd/update/res`, { ts: null, id: order, status: 'ok', data: {} }, false);
          obey(device, args.version);
        });
      },
      urgent() {},
      reconnect() {},
      async close() {
        ears.delete(listener);
      },
    } satisfies Bus;
  };
  return {
    devices,
    openBus,
    conversed,
    ledger: { sums },
    get connections() {
      return ears.size;
    },
    cut() {
      for (const ear of ears) ear.down('unreachable', 'the network is away');
    },
    switch(device, isOn) {
      device.isOn = isOn;
      tell(device);
    },
  };
}
