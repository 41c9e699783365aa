/** When a device counts as silent, by what arrives at a backend. */
import { describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/adapters/log.ts';
import { createFleetView } from '../../../src/backend/fleet/fleet-view.ts';
import { watchFleet } from '../../../src/backend/watch/fleet-watch.ts';
import type { Bus, BusListener } from '../../../src/ports/bus.ts';
import { STATUS } from '../../examples/monitored-backends.ts';
import { createVirtualClock } from '../../virtual-clock.ts';

const SECOND = 1000;

function openWatch() {
  const clock = createVirtualClock();
  const view = createFleetView();
  const changed: string[] = [];
  let listener: BusListener | undefined;
  let isClosed = false;
  const watch = watchFleet({
    prefix: 'dragoman/v1',
    view,
    clock,
    log: createLogger({ level: 'trace', format: 'json', sink: { write() {} } }),
    complain: () => {},
    heard: () => {},
    changed: (device) => void changed.push(device),
    openBus(_options, opened) {
      listener = opened;
      const bus: Partial<Bus> = {
        async close() {
          isClosed = true;
        },
      };
      return bus as Bus;
    },
  });
  const hear = (noun: string, body: object, retain = false): void =>
    listener?.message({
      topic: `dragoman/v1/museum/kiosk/${noun}`,
      payload: JSON.stringify(body),
      retain,
      properties: {},
    });
  return {
    clock,
    watch,
    changed,
    isClosed: () => isClosed,
    up: () => listener?.up(1, 5),
    down: () => listener?.down('unreachable', 'the broker is away'),
    refuse: (filters: readonly string[]) => listener?.refused?.(filters),
    status: (retain = false) => hear('status', { ...STATUS, status: 'ready' }, retain),
    health: () => hear('health', { boot_id: 'boot', lanes: [] }),
    shown: () => view.get('museum/kiosk')?.status,
  };
}

describe('a device', () => {
  it('is lost when nothing of it arrives for three minutes, and back with its next message', async () => {
    const { clock, changed, up, status, health, shown } = openWatch();
    up();
    status();
    await clock.elapse(170 * SECOND);
    health();
    await clock.elapse(170 * SECOND);
    expect([shown(), changed]).toEqual(['ready', ['museum/kiosk']]);
    await clock.elapse(20 * SECOND);
    expect([shown(), changed]).toEqual(['lost', ['museum/kiosk', 'museum/kiosk']]);
    health();
    expect([shown(), changed.length]).toEqual(['ready', 3]);
  });

  it('is not heard by what the broker has kept of it', async () => {
    const { clock, up, status, shown } = openWatch();
    up();
    await clock.elapse(170 * SECOND);
    status(true);
    await clock.elapse(20 * SECOND);
    expect(shown()).toBe('lost');
    status(true);
    expect(shown()).toBe('lost');
  });

  it('is not silent while the backend itself has no broker', async () => {
    const { clock, up, down, status, shown } = openWatch();
    up();
    status();
    await clock.elapse(100 * SECOND);
    down();
    await clock.elapse(1000 * SECOND);
    expect(shown()).toBe('ready');
    up();
    await clock.elapse(170 * SECOND);
    expect(shown()).toBe('ready');
    await clock.elapse(20 * SECOND);
    expect(shown()).toBe('lost');
  });

  it('is not silent where the broker does not let the backend hear the health of devices', async () => {
    const { clock, up, refuse, status, shown } = openWatch();
    refuse(['dragoman/v1/+/+/health']);
    up();
    status();
    await clock.elapse(1000 * SECOND);
    expect(shown()).toBe('ready');
  });
});

it('looks at nothing after the end', async () => {
  const { clock, watch, up, status, changed, isClosed } = openWatch();
  up();
  status();
  await watch.close();
  expect([isClosed(), clock.armed]).toEqual([true, 0]);
  await clock.elapse(1000 * SECOND);
  expect(changed).toHaveLength(1);
});
