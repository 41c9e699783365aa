import { describe, expect, it } from 'vitest';
import { phaseOf } from '../../src/device/lane/state/session-state.ts';
import { commandResponseSchema } from '../../src/protocol/mqtt/command.ts';
import { statusAnswerSchema } from '../../src/protocol/mqtt/commands/device-commands.ts';
import { closed } from '../service-events.ts';
import { BASE, createFakeDeps, testConfig } from './fake-deps.ts';

const laneOf = (deps: ReturnType<typeof createFakeDeps>) => {
  const lane = deps.agent.lanes[0];
  if (lane === undefined) throw new Error('no lane');
  return lane.state;
};

async function live() {
  const deps = createFakeDeps();
  await deps.goLive();
  return deps;
}

describe('commands', () => {
  it('mute and unmute: the service receives silence in real time in between', async () => {
    const deps = await live();
    deps.command('mute', { id: 'a' });
    deps.speak();
    deps.command('unmute', { id: 'b' });
    deps.speak();
    const [muted, open] = deps.lastStream().audio;
    expect(muted?.every((byte) => byte === 0)).toBe(true);
    expect(open?.some((byte) => byte !== 0)).toBe(true);
    expect(laneOf(deps).backlog.accounts).toMatchObject({ captured: 2, sent: 1, silenced: 1 });
    expect(deps.answers('mute')).toEqual([
      expect.objectContaining({
        id: 'a',
        status: 'ok',
        data: { lanes: [expect.objectContaining({ muted: true })] },
      }),
    ]);
  });

  it('stop and start: end the session and close the microphone, then resume both', async () => {
    const deps = await live();
    deps.command('stop', { id: 'a', args: { lane: 'main' } });
    expect(deps.lastStream().calls).toContain('end');
    expect(deps.openMicrophones).toBe(0);
    expect(deps.flushes).toBe(1);
    deps.lastStream().listener.said(closed('closed'));
    expect(phaseOf(laneOf(deps).session)).toBe('idle');
    deps.command('start', { id: 'b' });
    expect(phaseOf(laneOf(deps).session)).toBe('acquiring');
    expect(deps.lastRequest().reason).toBe('start');
  });

  it('status: reports phase, counters and version', async () => {
    const deps = await live();
    deps.speak();
    deps.command('status', { id: 'a' });
    expect(deps.answers('status')[0]).toMatchObject({
      status: 'ok',
      data: {
        status: 'ready',
        version: '9.9.9',
        lanes: [{ phase: 'live', session: 'session-...' }],
        audio: [{ captured: 1, sent: 1, held: 0, max_durations: 0 }],
      },
    });
    expect(statusAnswerSchema.safeParse(deps.answers('status')[0]?.data).error).toBeUndefined();
  });

  it('returns the correlation data', async () => {
    const deps = await live();
    const correlationData = new Uint8Array([1, 2, 3]);
    deps.command('status', { id: 'a' }, { properties: { correlationData } });
    expect(deps.sent('cmd/status/res')[0]?.options.properties).toEqual({ correlationData });
  });

  it('refuses an unknown lane with a code and the fix', async () => {
    const deps = await live();
    deps.command('mute', { id: 'a', args: { lane: 'other' } });
    const [answer] = deps.answers('mute');
    const message = expect.stringContaining('there are main');
    const error = { code: 'unknown_lane', message };
    expect(commandResponseSchema.parse(answer)).toMatchObject({ id: 'a', status: 'error', error });
    expect(laneOf(deps).options.muted).toBe(false);
  });

  it('carries out an expired command while the clock is not set', async () => {
    const deps = await live();
    deps.clock.setWall(null);
    deps.command('mute', { id: 'a', not_after: '2020-01-01T00:00:00Z' });
    expect(deps.answers('mute')[0]).toMatchObject({ status: 'ok', ts: null });
  });

  it('spreads a command to the whole fleet over time', async () => {
    const deps = await live();
    deps.deliver('dragoman/v1/museum/all/cmd/mute', { id: 'f', args: { spread_s: 60 } });
    expect(deps.answers('mute').map(({ status }) => status)).toEqual(['accepted']);
    expect(laneOf(deps).options.muted).toBe(false);
    deps.clock.advance(30_000);
    expect(deps.answers('mute').map(({ status }) => status)).toEqual(['accepted', 'ok']);
    expect(laneOf(deps).options.muted).toBe(true);
  });

  it('accepts commands of its own groups only', async () => {
    const config = testConfig();
    const deps = createFakeDeps({ ...config, device: { ...config.device, groups: ['lobby', 'east'] } });
    await deps.goLive();
    deps.deliver('dragoman/v1/museum/group/east/cmd/mute', { id: 'a', args: { spread_s: 0 } });
    expect(deps.answers('mute')).toEqual([expect.objectContaining({ id: 'a', status: 'ok' })]);
    deps.deliver('dragoman/v1/museum/group/west/cmd/unmute', { id: 'b' });
    deps.deliver('dragoman/v1/museum/group/lobby/x/cmd/unmute', { id: 'c' });
    expect(deps.answers('unmute')).toEqual([]);
    expect(laneOf(deps).options.muted).toBe(true);
  });

  it('does not subscribe to commands for other devices', async () => {
    const deps = await live();
    deps.deliver('dragoman/v1/museum/kiosk-02/cmd/mute', { id: 'a' });
    deps.deliver(`${BASE}/cmd/mute/res`, { id: 'a' });
    expect(laneOf(deps).options.muted).toBe(false);
    expect(deps.answers('mute')).toEqual([]);
  });
});
