import { describe, expect, it } from 'vitest';
import { createLimitedWarnings } from '../../src/backend/limited-warnings.ts';
import { createSessionReports } from '../../src/backend/session-reports.ts';
import type { BusMessage } from '../../src/ports/bus.ts';
import { type LedgerEntry, type Store, StoreDown } from '../../src/ports/store.ts';
import { createVirtualClock } from '../virtual-clock.ts';

const PREFIX = 'dragoman/v1';

function openReports() {
  const clock = createVirtualClock();
  const ledger: LedgerEntry[] = [];
  const warned: string[] = [];
  const acknowledged: number[] = [];
  const world = { isDown: false };
  const append = async (entry: LedgerEntry): Promise<boolean> => {
    if (world.isDown) throw new StoreDown('the store cannot be used');
    ledger.push(entry);
    return true;
  };
  const log = {
    trace() {},
    debug() {},
    info() {},
    error() {},
    warn: (_: object, text: string) => void warned.push(text),
  };
  const reports = createSessionReports({ append } as Partial<Store> as Store, PREFIX, {
    ...{ clock, log, complain: createLimitedWarnings(log, clock) },
  });
  const send = (live_ms: number): void => {
    const report = { ts: '2026-11-27T12:00:00.000Z', lane: 'main', session: 'abc...', cause: 'stopped' };
    const message: BusMessage = {
      topic: `${PREFIX}/museum/kiosk/event/session_ended`,
      payload: JSON.stringify({ ...report, live_ms }),
      ...{ retain: false, properties: {}, hold: () => () => void acknowledged.push(live_ms) },
    };
    expect(reports.hear(message)).toBe(true);
  };
  return { clock, ledger, warned, acknowledged, world, reports, send };
}

describe('reports of ended sessions', () => {
  it('reach the ledger when the store is up again, and are acknowledged only then', async () => {
    const { clock, ledger, warned, acknowledged, world, send } = openReports();
    world.isDown = true;
    for (const ms of [1000, 2000, 3000]) send(ms);
    await clock.elapse(300_000);
    expect({ ledger, acknowledged }).toEqual({ ledger: [], acknowledged: [] });
    // One warning a minute at most.
    expect(warned.length).toBeGreaterThan(0);
    expect(warned.length).toBeLessThanOrEqual(6);
    world.isDown = false;
    await clock.elapse(2000);
    expect(ledger.map(({ ms }) => ms)).toEqual([1000, 2000, 3000]);
    expect(acknowledged).toEqual([1000, 2000, 3000]);
    expect(clock.armed).toBe(0);
  });

  it('stay with the broker when the backend ends while the store is down', async () => {
    const { clock, ledger, acknowledged, world, reports, send } = openReports();
    world.isDown = true;
    send(1000);
    await clock.elapse(10_000);
    await reports.close();
    expect({ ledger, acknowledged, armed: clock.armed }).toEqual({ ledger: [], acknowledged: [], armed: 0 });
  });
});
