import { describe, expect, it } from 'vitest';
import { conditionOf } from '../../../src/backend/fleet/condition.ts';
import { createFleetView } from '../../../src/backend/fleet/fleet-view.ts';

const status = (status: string, reasons: string[] = [], version = '1.0.0') => ({
  status,
  reasons,
  version,
  ts: null,
});
const state = (boot_id: string, speech_lost_ms: number, unspoken_ms = 0, phase = 'live') => ({
  boot_id,
  lanes: [{ id: 'main', phase, speech_lost_ms, unspoken_ms, more: 1 }],
});
const health = (boot_id: string, billed_s: number) => ({ boot_id, lanes: [{ id: 'main', billed_s }] });

describe('the view of the fleet', () => {
  it('counts devices by status, reason, version and phase', () => {
    const view = createFleetView();
    view.hearStatus(
      'museum/a',
      status('degraded', ['capture:lost', 'capture:silent', 'no_broker', 'made_up:x']),
    );
    view.hearStatus('museum/b', status('degraded', ['capture:lost']));
    view.hearStatus('museum/c', status('lost', ['connection_lost'], '0.9'));
    view.hearState('museum/a', state('boot', 0), 0);
    view.hearState('museum/b', state('boot', 0, 0, 'a phase of tomorrow'), 0);
    const { statuses, reasons, phases, versions } = view.summary();
    expect(Object.fromEntries(statuses)).toEqual({
      ready: 0,
      idle: 0,
      degraded: 2,
      stopping: 0,
      offline: 0,
      lost: 1,
    });
    expect(Object.fromEntries(reasons)).toEqual({ capture: 2, no_broker: 1, other: 1, connection_lost: 1 });
    expect(phases.get('live')).toBe(1);
    expect(phases.get('other')).toBe(1);
    expect(Object.fromEntries(versions)).toEqual({ '1.0.0': 2, '0.9': 1 });
    view.hearStatus('museum/c', status('ready'));
    expect(view.summary().statuses.get('lost')).toBe(0);
    view.forget('museum/a');
    expect(view.summary().statuses.get('degraded')).toBe(1);
  });

  it('adds what has grown, from the first report on, and over a restart of the agent', () => {
    const view = createFleetView();
    view.hearState('museum/a', state('boot-1', 5000, 100), 0);
    expect(view.sums).toEqual({ lostMs: 0, unspokenMs: 0, billedS: 0 });
    view.hearState('museum/a', state('boot-1', 7000, 100), 0);
    view.hearState('museum/a', state('boot-1', 7000, 400), 0);
    view.hearState('museum/a', state('boot-2', 1000, 0), 0);
    view.hearHealth('museum/b', health('boot', 60), 0);
    view.hearHealth('museum/b', health('boot', 90), 0);
    expect(view.sums).toEqual({ lostMs: 3000, unspokenMs: 300, billedS: 30 });
    expect(view.get('museum/a')?.sums).toEqual({ lostMs: 3000, unspokenMs: 300, billedS: 0 });
    expect(view.get('museum/b')?.sums.billedS).toBe(30);
  });

  it('takes a device for lost that is silent for three minutes, until it is heard again', () => {
    const view = createFleetView();
    for (const name of ['museum/a', 'museum/b', 'museum/off']) view.hearStatus(name, status('ready'));
    view.hearStatus('museum/off', status('offline'));
    view.heard('museum/a', 100_000);
    view.heard('museum/b', 100_500);
    expect(view.noteSilence(0, 279_999)).toEqual(['museum/off']);
    expect(view.noteSilence(0, 280_000)).toEqual(['museum/a']);
    expect(view.noteSilence(0, 280_000)).toEqual([]);
    expect(view.get('museum/a')).toMatchObject({ status: 'lost', reasons: ['connection_lost'] });
    expect(conditionOf(view.get('museum/a'))).toBe('lost');
    expect(view.get('museum/b')?.status).toBe('ready');
    // It was switched off, and said so.
    expect(view.get('museum/off')?.status).toBe('offline');
    // The broker sends the retained status again, which proves nothing.
    view.hearStatus('museum/a', status('degraded', ['capture:lost']));
    expect(view.get('museum/a')?.status).toBe('lost');
    expect(view.heard('museum/a', 290_000)).toBe(true);
    expect(view.heard('museum/a', 290_001)).toBe(false);
    expect(view.get('museum/a')).toMatchObject({ status: 'degraded', reasons: ['capture'] });
  });

  it('judges silence only while all messages arrive, from the connection on', () => {
    const view = createFleetView();
    view.hearStatus('museum/a', status('ready'));
    expect(view.noteSilence(null, 10_000_000)).toEqual([]);
    expect(view.noteSilence(9_900_000, 10_000_000)).toEqual([]);
    expect(view.noteSilence(9_900_000, 10_080_000)).toEqual(['museum/a']);
  });

  it('believes no figure that cannot be', () => {
    const view = createFleetView();
    view.hearState('museum/a', state('boot', 0), 0);
    for (const wrong of [1e300, -5, Number.NaN, '5', null])
      expect(view.hearState('museum/a', state('boot', wrong as number), 0)).toBe(false);
    view.hearState('museum/a', state('boot', 500), 0);
    view.hearState('museum/a', state('boot', 100), 0);
    expect(view.sums.lostMs).toBe(500);
    for (const wrong of [undefined, null, 'x', [], { status: 'fine', version: '1', reasons: [] }])
      expect(view.hearStatus('museum/a', wrong)).toBe(false);
    expect(
      view.hearHealth('museum/a', { boot_id: 'b', lanes: Array.from({ length: 99 }, () => ({})) }, 0),
    ).toBe(false);
  });

  it('keeps a bounded number of devices and versions, and counts the others', () => {
    const view = createFleetView(30);
    for (let index = 0; index < 40; index += 1)
      view.hearStatus(`museum/${index}`, status('ready', [], `1.${index}`));
    expect(view.size).toBe(30);
    expect(view.leftOut).toBe(10);
    const { versions } = view.summary();
    expect(versions.size).toBe(21);
    expect(versions.get('other')).toBe(10);
  });
});

describe('what a device cannot have lost', () => {
  const MINUTE = 60_000;

  it('is not counted, in one report or in many runs, and the device is named', () => {
    const view = createFleetView();
    view.hearState('museum/a', state('boot', 0), 0);
    view.hearState('museum/b', state('boot', 0), 0);
    view.hearState('museum/b', state('boot', 20 * MINUTE, 8 * 20 * MINUTE), 5 * MINUTE);
    expect(view.get('museum/b')?.isImplausible).toBe(false);
    const before = view.sums.lostMs;
    for (let boot = 0; boot < 100; boot += 1)
      view.hearState('museum/a', state(`boot-${boot}`, 1e11, 1e11), 10 * MINUTE);
    expect(view.get('museum/a')?.sums).toEqual({
      lostMs: 25 * MINUTE,
      unspokenMs: 8 * 25 * MINUTE,
      billedS: 0,
    });
    expect(view.get('museum/a')?.isImplausible).toBe(true);
    expect(view.sums.lostMs - before).toBe(25 * MINUTE);
  });

  it('also not of its billed time', () => {
    const view = createFleetView();
    view.hearHealth('museum/a', health('boot', 0), 0);
    view.hearHealth('museum/a', health('boot', 3600), 15 * MINUTE);
    expect(view.get('museum/a')).toMatchObject({ isImplausible: false, sums: { billedS: 3600 } });
    view.hearHealth('museum/a', health('boot', 3601), 15 * MINUTE);
    expect(view.get('museum/a')).toMatchObject({ isImplausible: true, sums: { billedS: 3600 } });
  });
});

describe('the condition of a device', () => {
  it.each([
    ['ready', [], 'fine'],
    ['idle', ['stopped'], 'fine'],
    ['offline', [], 'fine'],
    ['lost', ['connection_lost'], 'lost'],
    ['degraded', ['capture:lost'], 'degraded'],
    ['degraded', ['budget'], 'over_budget'],
    ['degraded', ['budget', 'playback:lost'], 'degraded'],
  ])('of %s with %j is %s', (what, reasons, condition) => {
    const view = createFleetView();
    view.hearStatus('museum/a', status(what, reasons));
    expect(conditionOf(view.get('museum/a'))).toBe(condition);
  });
});
