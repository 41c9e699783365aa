/** What a roll-out hears of the fleet, message by message. */
import { describe, expect, it } from 'vitest';
import { isMeant, openFleetListener } from '../../../src/backend/rollout/fleet-listener.ts';
import type { BusListener } from '../../../src/ports/bus.ts';
import type { BackendConfig } from '../../../src/protocol/backend-config.ts';
import { createVirtualClock } from '../../virtual-clock.ts';

const PREFIX = 'dragoman/v1';
const KIOSK = 'museum/kiosk-1';
const quiet = { info() {}, warn() {}, error() {}, debug() {}, trace() {} };

function listen() {
  const clock = createVirtualClock();
  const opened: BusListener[] = [];
  const ear = openFleetListener({
    openBus(_, given) {
      opened.push(given);
      return {
        connected: true,
        outbox: { depth: 0, dropped: 0 },
        publish() {},
        urgent() {},
        reconnect() {},
        async close() {},
      };
    },
    prefix: PREFIX,
    clock,
    log: quiet,
    complain() {},
    isMeant: () => true,
  });
  const [listener] = opened;
  if (listener === undefined) throw new Error('no connection was opened');
  const { up, down, message } = listener;
  const hear = (noun: string, body: object | null, retain = true): void =>
    message({
      topic: `${PREFIX}/${KIOSK}/${noun}`,
      payload: body === null ? '' : JSON.stringify({ ts: null, ...body }),
      retain,
      properties: {},
    });
  return {
    clock,
    ear,
    hear,
    up: () => up(1, 5),
    down: () => down('unreachable', 'the network is away'),
    /** @param lost speech that this run of the agent has lost so far (ms) */
    report(boot_id: string, lost: number) {
      const lanes = [{ id: 'main', phase: 'live', speech_lost_ms: lost, unspoken_ms: 0 }];
      const update = { state: 'idle', from: null, to: null, reason: null, progress: null };
      hear('status', { status: 'ready', version: '1.2.0', reasons: [] });
      hear('state', { boot_id, lanes, update });
    },
    troubleMs: () => ear.look().devices.get(KIOSK)?.troubleMs,
  };
}

describe('lost speech', () => {
  it('is told once, and again only as it grows', () => {
    const { clock, ear, up, report, troubleMs } = listen();
    up();
    report('b1', 0);
    clock.advance(60_000);
    report('b1', 700);
    expect([troubleMs(), troubleMs()]).toEqual([700, 700]);
    ear.took(ear.look());
    expect(troubleMs()).toBe(0);
    clock.advance(60_000);
    report('b1', 900);
    expect(troubleMs()).toBe(200);
  });

  it('is counted anew for a device that was removed and comes back', () => {
    const { clock, ear, up, hear, report, troubleMs } = listen();
    up();
    report('b1', 0);
    clock.advance(60_000);
    report('b1', 700);
    ear.took(ear.look());
    hear('status', null);
    expect(troubleMs()).toBeUndefined();
    report('b2', 0);
    clock.advance(60_000);
    report('b2', 500);
    expect(troubleMs()).toBe(500);
  });
});

describe('conversations and answers', () => {
  const ANSWER = { id: 'r1-1', status: 'ok', data: {} };

  it('are heard when they happen, and not when the broker has kept them', () => {
    const { ear, up, hear } = listen();
    up();
    hear('event/conversation_ended', { duration_s: 60 });
    hear('cmd/update/res', ANSWER);
    expect(ear.look()).toMatchObject({ conversations: new Map(), answers: [] });
    hear('event/conversation_ended', { duration_s: 60 }, false);
    hear('event/conversation_ended', { duration_s: 60 }, false);
    hear('cmd/update/res', { ...ANSWER, status: 'accepted' }, false);
    hear('cmd/update/res', ANSWER, false);
    expect(ear.look()).toMatchObject({
      conversations: new Map([[KIOSK, 2]]),
      answers: [{ device: KIOSK, id: 'r1-1', status: 'ok' }],
    });
  });

  it('that come between the look and its use are there the next time', () => {
    const { ear, up, hear } = listen();
    up();
    hear('event/conversation_ended', {}, false);
    hear('cmd/update/res', ANSWER, false);
    const seen = ear.look();
    hear('event/conversation_ended', {}, false);
    hear('cmd/update/res', { ...ANSWER, id: 'r1-2' }, false);
    ear.took(seen);
    expect(ear.look()).toMatchObject({ conversations: new Map([[KIOSK, 1]]), answers: [{ id: 'r1-2' }] });
  });
});

describe('the connection', () => {
  it('is settled ten seconds after it came, again after each new one', () => {
    const { clock, ear, up, down } = listen();
    up();
    clock.advance(9999);
    expect(ear.isSettled).toBe(false);
    clock.advance(1);
    expect(ear.isSettled).toBe(true);
    down();
    expect(ear.isSettled).toBe(false);
    clock.advance(20_000);
    up();
    expect([ear.isSettled, ear.downForMs]).toEqual([false, 0]);
  });

  it('is down since its end, however often it is tried', () => {
    const { clock, ear, up, down } = listen();
    clock.advance(3000);
    down();
    expect(ear.downForMs).toBe(3000);
    up();
    clock.advance(1000);
    for (let tries = 0; tries < 3; tries++) {
      down();
      clock.advance(30_000);
    }
    expect(ear.downForMs).toBe(90_000);
  });
});

describe('a roll-out', () => {
  const config = {
    allow: ['museum/*'],
    groups: [{ name: 'lobby', members: ['museum/lobby-*', 'castle/lobby-*'] }],
  } as unknown as Pick<BackendConfig, 'allow' | 'groups'>;
  it.each([
    ['museum/lobby-1', null, true],
    ['museum/hall-1', null, true],
    ['castle/lobby-1', null, false],
    ['museum/lobby-1', 'lobby', true],
    ['museum/hall-1', 'lobby', false],
    // A member of the group that "allow" does not name.
    ['castle/lobby-1', 'lobby', false],
  ])('is for %s in group %s: %s', (device, group, is) => {
    expect(isMeant(config, device, group)).toBe(is);
  });
});
