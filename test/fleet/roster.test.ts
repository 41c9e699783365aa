import { describe, expect, it } from 'vitest';
import {
  receivedLaneSchema,
  receivedStateSchema,
  receivedStatusSchema,
} from '../../src/fleet/device-messages.ts';
import {
  createRoster,
  type DeviceEntry,
  describeLane,
  isInGroup,
  isReachable,
  MOST_DEVICES,
  neverCame,
  rosterRows,
} from '../../src/fleet/roster.ts';

const statusOf = (status: string, more: object = {}) => receivedStatusSchema.parse({ status, ...more });
const stateOf = (more: object = {}) => receivedStateSchema.parse(more);
const entry = (device: string, status: string | null, more: object = {}): DeviceEntry => ({
  device,
  status: status === null ? null : statusOf(status, more),
  state: null,
});

describe('the roster', () => {
  it('keeps the newest status and the newest state of each device', () => {
    const roster = createRoster();
    roster.note('kiosk-01', { status: statusOf('ready') });
    roster.note('kiosk-01', { state: stateOf({ groups: ['lobby'] }) });
    roster.note('kiosk-01', { status: statusOf('lost') });
    expect([...roster.entries()]).toMatchObject([
      { device: 'kiosk-01', status: { status: 'lost' }, state: { groups: ['lobby'] } },
    ]);
  });

  it('forgets a device only when both its topics are cleared', () => {
    const roster = createRoster();
    roster.note('kiosk-01', { status: statusOf('ready') });
    roster.note('kiosk-01', { state: stateOf() });
    roster.note('kiosk-01', { status: null });
    expect(roster.get('kiosk-01')).toMatchObject({ status: null });
    roster.note('kiosk-01', { state: null });
    expect(roster.size).toBe(0);
  });

  it('ignores new devices when it is full, and still updates the known ones', () => {
    const roster = createRoster();
    const ready = { status: statusOf('ready') };
    for (let index = 0; index <= MOST_DEVICES; index++) roster.note(`k${index}`, ready);
    expect(roster.size).toBe(MOST_DEVICES);
    expect(roster.get(`k${MOST_DEVICES}`)).toBeUndefined();
    roster.note('k7', { status: statusOf('lost') });
    expect(roster.get('k7')?.status?.status).toBe('lost');
  });

  it('notes each message of a large fleet as quickly as one of a small fleet', () => {
    const told = { status: statusOf('ready') };
    const msToNote = (devices: number): number => {
      const roster = createRoster();
      for (let index = 0; index < devices; index++) roster.note(`k${index}`, told);
      // CPU time of this process only: the machine may be busy with others.
      const began = process.cpuUsage();
      for (let index = 0; index < 5000; index++) roster.note(`k${index % devices}`, told);
      const { user, system } = process.cpuUsage(began);
      return (user + system) / 1000;
    };
    msToNote(100);
    // A copy of the roster with each message took a thousand times as long.
    expect(msToNote(MOST_DEVICES)).toBeLessThan(50 * msToNote(100) + 50);
  });

  it.each([
    ['ready', true],
    ['idle', true],
    ['degraded', true],
    ['stopping', true],
    ['a status of a later version', true],
    ['lost', false],
    ['offline', false],
  ])('expects that a device with the status %s receives a command: %s', (status, isHeard) => {
    expect(isReachable(entry('kiosk-01', status))).toBe(isHeard);
  });

  it('treats a device without retained messages as unreachable and in no group', () => {
    expect(isReachable(entry('kiosk-01', null))).toBe(false);
    expect(isInGroup(entry('kiosk-01', null), 'lobby')).toBe(false);
    expect(isInGroup({ ...entry('a', null), state: stateOf({ groups: ['lobby'] }) }, 'lobby')).toBe(true);
    expect(isInGroup({ ...entry('a', null), state: stateOf({ groups: 'lobby' }) }, 'lobby')).toBe(false);
  });
});

describe('the rows of a table', () => {
  it('are sorted by urgency, then by name', () => {
    const statuses = ['ready', 'idle', 'stopping', 'offline', 'degraded', 'lost'];
    const entries = statuses.flatMap((status) => [
      entry(`b-${status}`, status),
      entry(`a-${status}`, status),
    ]);
    const sorted = ['lost', 'degraded', 'offline', 'stopping', 'idle', 'ready'];
    expect(rosterRows(entries).map(({ device }) => device)).toEqual(
      sorted.flatMap((status) => [`a-${status}`, `b-${status}`]),
    );
  });

  it('show a device without a status as a problem, near the top', () => {
    const rows = rosterRows([entry('fine', 'ready'), entry('silent', null), entry('newer', 'hibernating')]);
    expect(rows.map(({ device }) => device)).toEqual(['newer', 'silent', 'fine']);
    expect(rows[1]).toEqual({
      device: 'silent',
      status: 'unknown',
      reasons: '',
      lanes: '',
      version: '',
      since: null,
      isProblem: true,
    });
    expect(rows.map(({ isProblem }) => isProblem)).toEqual([false, true, false]);
  });

  it('show a registered device that never came as such', () => {
    const known = [entry('here', 'ready'), entry('gone', 'lost')];
    const rows = rosterRows([...known, ...neverCame(['here', 'gone', 'new'], known)]);
    expect(rows.map(({ device, status }) => [device, status])).toEqual([
      ['gone', 'lost'],
      ['new', 'never'],
      ['here', 'ready'],
    ]);
    expect(rows[1]).toMatchObject({ reasons: 'is registered but has never connected', isProblem: true });
  });

  it('take "since" from the status, otherwise from the state', () => {
    const at = (ts: string | null, stateTs: string | null) =>
      rosterRows([{ device: 'a', status: statusOf('ready', { ts }), state: stateOf({ ts: stateTs }) }])[0]
        ?.since;
    expect(at('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z')).toBe('2026-01-01T00:00:00Z');
    expect(at(null, '2026-01-02T00:00:00Z')).toBe('2026-01-02T00:00:00Z');
    expect(at(null, null)).toBeNull();
  });

  it('show the reasons and each lane', () => {
    const lanes = [
      { id: 'main', phase: 'live', source: 'en', targets: ['es', 'fr'], volume: 80 },
      { id: 'desk', phase: 'standby', source: 'de', targets: ['en'], volume: 0, muted: true },
    ];
    const status = statusOf('degraded', { reasons: ['capture:lost', 'budget'], version: '0.1.0' });
    expect(rosterRows([{ device: 'a', status, state: stateOf({ lanes }) }])[0]).toMatchObject({
      status: 'degraded',
      reasons: 'capture:lost budget',
      version: '0.1.0',
      isProblem: true,
      lanes: 'main live en>es,fr; desk standby de>en muted volume 0',
    });
  });

  it('invent no values for a lane without known fields', () => {
    expect(describeLane(receivedLaneSchema.parse({}))).toBe('  >');
  });
});
