import { describe, expect, it } from 'vitest';
import type { AgentDeps } from '../../../src/device/deps/deps.ts';
import { isMuted } from '../../../src/device/lane/state/lane-options.ts';
import type { KeyDeviceListener } from '../../../src/ports/keys.ts';
import { keyCode } from '../../../src/protocol/key-names.ts';
import { createScheduledAgent } from '../scheduled-agent.ts';
import { events, LISTENERS, laneOf } from './desk.ts';

const PAD = '/dev/input/by-id/pad';
const PEDAL = '/dev/input/by-id/pedal';
const bind = (key: string, command: string, args: object = {}, more: object = {}) => ({
  device: PAD,
  key,
  do: { command, args },
  ...more,
});

/** A live kiosk with keys; the test presses them. */
async function deskWith(keys: readonly object[], lane: object = {}) {
  const devices = new Map<string, KeyDeviceListener>();
  const closed: string[] = [];
  const openKeyDevice: NonNullable<AgentDeps['openKeyDevice']> = (path, listener) => {
    devices.set(path, listener);
    return { close: () => void closed.push(path) };
  };
  const config = { keys, conversation: { notice: false } };
  const deps = createScheduledAgent(config, { openKeyDevice }, { standbyAfter: 0, ...LISTENERS, ...lane });
  await deps.goLive();
  await deps.clock.elapse(3000);
  const device = (path = PAD): KeyDeviceListener => {
    const found = devices.get(path);
    if (found === undefined) throw new Error(`${path} is not read`);
    return found;
  };
  const move = (isDown: boolean) => (key: string, path?: string) =>
    device(path).changed({ code: keyCode(key) ?? 0, isDown });
  return { deps, devices, closed, device, down: move(true), up: move(false) };
}
const options = (deps: Parameters<typeof laneOf>[0]) => laneOf(deps).state.options;

describe('a key at the desk', () => {
  it('gives its command once for each press', async () => {
    const { deps, down, up } = await deskWith([bind('KEY_F1', 'volume', { percent: 40 })]);
    down('KEY_F1');
    expect(options(deps).volume).toBe(40);
    deps.ask('volume', { percent: 60 });
    up('KEY_F1');
    expect(options(deps).volume).toBe(60);
  });

  it.each([
    ['mute', true],
    ['unmute', false],
  ])('gives the opposite of "%s" at its release, with "hold"', async (command, isMutedNow) => {
    const { deps, down, up } = await deskWith([bind('KEY_F1', command, {}, { on: 'hold' })]);
    down('KEY_F1');
    expect(isMuted(options(deps))).toBe(isMutedNow);
    up('KEY_F1');
    expect(isMuted(options(deps))).toBe(!isMutedNow);
  });

  it.each([
    ['mute', true],
    ['unmute', false],
  ])('gives nothing at its release, with "press" and "%s"', async (command, isMutedNow) => {
    const { deps, down, up } = await deskWith([
      bind('KEY_F1', command, {}, { on: 'press' }),
      bind('KEY_F2', isMutedNow ? 'unmute' : 'mute', {}, { on: 'press' }),
    ]);
    down('KEY_F2');
    down('KEY_F1');
    up('KEY_F1');
    expect(isMuted(options(deps))).toBe(isMutedNow);
    up('KEY_F2');
    expect(isMuted(options(deps))).toBe(isMutedNow);
  });

  it('does not lift a mute by command, neither by a press nor by a release', async () => {
    const { deps, down, up } = await deskWith([
      bind('KEY_F1', 'mute', {}, { on: 'hold' }),
      bind('KEY_F2', 'unmute', {}, { on: 'press' }),
    ]);
    deps.ask('mute');
    down('KEY_F1');
    up('KEY_F1');
    down('KEY_F2');
    expect(isMuted(options(deps))).toBe(true);
    deps.ask('unmute');
    expect(isMuted(options(deps))).toBe(false);
  });

  it('opens the microphone of one direction while it is held, with "pushToTalk"', async () => {
    const key = bind('KEY_F1', 'turn', { speaker: 'source' }, { on: 'hold' });
    const { deps, down, up } = await deskWith([key], { pushToTalk: true });
    const openUntil = () => laneOf(deps).state.twoWay.openUntil;
    down('KEY_F1');
    expect(openUntil()).toBe(Number.POSITIVE_INFINITY);
    up('KEY_F1');
    expect(openUntil()).toBe(deps.clock.now() + 300);
    expect(JSON.stringify(deps.logged)).not.toContain('was refused');
  });

  it('begins a conversation before its command, so that the end undoes it', async () => {
    const { deps, down } = await deskWith([
      bind('KEY_F1', 'volume', { percent: 40 }),
      bind('KEY_F2', 'conversation', { do: 'end' }),
    ]);
    down('KEY_F1');
    expect(events(deps, 'conversation_started')).toMatchObject([{ by: 'key' }]);
    down('KEY_F2');
    expect(events(deps, 'conversation_ended')).toHaveLength(1);
    expect(options(deps).volume).toBe(80);
  });

  it('begins one by the command "conversation", and none by others', async () => {
    const { deps, down } = await deskWith([
      bind('KEY_F1', 'mute'),
      bind('KEY_F2', 'conversation', { do: 'begin' }),
    ]);
    down('KEY_F1');
    expect(isMuted(options(deps))).toBe(true);
    expect(events(deps, 'conversation_started')).toEqual([]);
    down('KEY_F2');
    expect(events(deps, 'conversation_started')).toMatchObject([{ by: 'key' }]);
  });

  it.each([
    ['volume', { percent: 40 }, {}],
    ['unmute', {}, {}],
    ['turn', { speaker: 'target' }, { twoWay: 'button' }],
    ['languages', { step: 1 }, { offer: ['es', 'fr'] }],
  ])('begins one by "%s", which only somebody who wants to talk presses', async (command, args, lane) => {
    const { deps, down } = await deskWith([bind('KEY_F1', command, args)], lane);
    down('KEY_F1');
    expect(events(deps, 'conversation_started')).toMatchObject([{ by: 'key' }]);
  });

  it('begins no conversation when it is let go after the end', async () => {
    const { deps, down, up } = await deskWith(
      [
        bind('KEY_F1', 'turn', { speaker: 'source' }, { on: 'hold' }),
        bind('KEY_F2', 'conversation', { do: 'end' }),
      ],
      { pushToTalk: true },
    );
    down('KEY_F1');
    down('KEY_F2');
    expect(events(deps, 'conversation_ended')).toHaveLength(1);
    up('KEY_F1');
    expect(events(deps, 'conversation_started')).toHaveLength(1);
  });

  it('calls staff and answers the call with "help", without a conversation', async () => {
    const { deps, down } = await deskWith([
      bind('KEY_F1', 'help', { do: 'call' }),
      bind('KEY_F2', 'help', { do: 'answer' }),
    ]);
    down('KEY_F1');
    await deps.clock.elapse(0);
    expect(deps.agent.help.call).toMatchObject({ state: 'called', lane: null });
    down('KEY_F2');
    expect(deps.agent.help.call).toMatchObject({ state: 'answered', by: null });
    expect([events(deps, 'help_called'), events(deps, 'help_answered')]).toMatchObject([
      [{ lane: null }],
      [{}],
    ]);
    expect(events(deps, 'conversation_started')).toEqual([]);
  });

  it('keeps a conversation alive', async () => {
    const { deps, down } = await deskWith([bind('KEY_F1', 'volume', { percent: 40 })]);
    for (let press = 0; press < 4; press++) {
      down('KEY_F1');
      deps.lastStream().listener.pong();
      await deps.clock.elapse(60_000);
    }
    expect(events(deps, 'conversation_ended')).toEqual([]);
  });

  it('of another device or without a command does nothing, and leaves no trace', async () => {
    const { deps, down, device } = await deskWith([
      bind('KEY_F1', 'volume', { percent: 40 }),
      bind('KEY_F2', 'mute', {}, { device: PEDAL }),
    ]);
    const before = JSON.stringify([deps.logged, deps.published]);
    down('KEY_F1', PEDAL);
    down('KEY_P');
    device().changed({ code: 0xffff, isDown: true });
    expect(options(deps).volume).toBe(80);
    expect(isMuted(options(deps))).toBe(false);
    expect(JSON.stringify([deps.logged, deps.published])).toBe(before);
  });

  it('that is refused says so in the log', async () => {
    const { deps, down } = await deskWith([bind('KEY_F1', 'conversation', { do: 'begin' })]);
    deps.ask('stop');
    deps.closeDrained();
    down('KEY_F1');
    expect(JSON.stringify(deps.logged)).toContain('the command of a key was refused');
    expect(JSON.stringify(deps.logged)).toContain('"code":"stopped"');
  });

  it('that bounces without end does not disturb the sound', async () => {
    const { deps, down, up } = await deskWith([bind('KEY_F1', 'volume', { percent: 40 })]);
    const steps: unknown[] = [];
    deps.agent.watch(({ event }) => void (event.type === 'options' && steps.push(event)));
    for (let press = 0; press < 1000; press++) {
      down('KEY_F1');
      up('KEY_F1');
    }
    expect(steps.length).toBeLessThanOrEqual(100);
  });

  it('on a device that is away is a reason of the status until it is back', async () => {
    const { deps, device } = await deskWith([bind('KEY_F1', 'mute')]);
    device().lost('it is not there');
    device().lost('it is not there');
    expect(deps.statusTold()).toEqual(['degraded', [`keys:${PAD}`]]);
    const told = deps.logged.filter((line) => JSON.stringify(line).includes('it is not there'));
    expect(told).toHaveLength(1);
    device().opened();
    await deps.clock.elapse(6000);
    expect(deps.statusTold()).toEqual(['ready', []]);
  });

  it('on a device that is back leaves the reason of another one that is away', async () => {
    const { deps, device } = await deskWith([
      bind('KEY_F1', 'mute'),
      bind('KEY_F2', 'mute', {}, { device: PEDAL }),
    ]);
    for (const path of [PAD, PEDAL]) device(path).lost('it is not there');
    device(PAD).opened();
    await deps.clock.elapse(6000);
    expect(deps.statusTold()).toEqual(['degraded', [`keys:${PEDAL}`]]);
  });

  it('on a device that is away for another reason than before is logged again', async () => {
    const { deps, device } = await deskWith([bind('KEY_F1', 'mute')]);
    device().lost('it is not there');
    device().lost('it may not be read');
    expect(JSON.stringify(deps.logged)).toMatch(/it is not there.*it may not be read/);
  });

  it('is not read any more when the agent stops', async () => {
    const { deps, closed } = await deskWith([
      bind('KEY_F1', 'mute'),
      bind('KEY_F2', 'unmute'),
      bind('KEY_F1', 'mute', {}, { device: PEDAL }),
    ]);
    const stopped = deps.agent.stop();
    await deps.clock.elapse(5000);
    await stopped;
    expect(closed).toEqual([PAD, PEDAL]);
  });
});
