import { describe, expect, it } from 'vitest';
import { commandResponseSchema } from '../../src/protocol/mqtt/command.ts';
import { BASE, createFakeWorld } from './fake-world.ts';

const laneOf = (world: ReturnType<typeof createFakeWorld>) => {
  const lane = world.agent.lanes[0];
  if (lane === undefined) throw new Error('no lane');
  return lane.state;
};

async function live() {
  const world = createFakeWorld();
  await world.goLive();
  return world;
}

describe('commands', () => {
  it('mute and unmute: the service hears silence in real time meanwhile', async () => {
    const world = await live();
    world.command('mute', { id: 'a' });
    world.speak();
    world.command('unmute', { id: 'b' });
    world.speak();
    const [muted, open] = world.lastStream().audio;
    expect(muted?.every((byte) => byte === 0)).toBe(true);
    expect(open?.some((byte) => byte !== 0)).toBe(true);
    expect(laneOf(world).hold.accounts).toMatchObject({ captured: 2, sent: 1, silenced: 1 });
    expect(world.answers('mute')).toEqual([
      expect.objectContaining({
        id: 'a',
        status: 'ok',
        data: { lanes: [expect.objectContaining({ muted: true })] },
      }),
    ]);
  });

  it('stop and start: the session ends, the microphone closes, and both come back', async () => {
    const world = await live();
    world.command('stop', { id: 'a', args: { lane: 'main' } });
    expect(world.lastStream().calls).toContain('endTask');
    expect(world.openMicrophones).toBe(0);
    expect(world.flushes).toBe(1);
    world.lastStream().listener.ended(1000, '');
    expect(laneOf(world).phase).toBe('idle');
    world.command('start', { id: 'b' });
    expect(laneOf(world).phase).toBe('acquiring');
    expect(world.lastRequest().reason).toBe('start');
  });

  it('status: tells phase, accounts and version', async () => {
    const world = await live();
    world.speak();
    world.command('status', { id: 'a' });
    expect(world.answers('status')[0]).toMatchObject({
      status: 'ok',
      data: {
        status: 'ready',
        version: '9.9.9',
        lanes: [{ phase: 'live', session: 'session-...' }],
        audio: [{ captured: 1, sent: 1, held: 0 }],
      },
    });
  });

  it('gives the correlation data back', async () => {
    const world = await live();
    const correlationData = new Uint8Array([1, 2, 3]);
    world.command('status', { id: 'a' }, { properties: { correlationData } });
    expect(world.sent('cmd/status/res')[0]?.options.properties).toEqual({ correlationData });
  });

  it.each([
    ['an unknown command', 'dance', { id: 'a' }, 'unknown_command', 'start, stop'],
    ['an unknown lane', 'mute', { id: 'a', args: { lane: 'other' } }, 'unknown_lane', 'there are main'],
    ['a misspelt argument', 'mute', { id: 'a', args: { lanes: 'main' } }, 'invalid_args', 'lanes'],
    ['a bad language', 'languages', { id: 'a', args: { source: 'English!' } }, 'invalid_args', 'source'],
    ['languages without any', 'languages', { id: 'a', args: {} }, 'invalid_args', '"targets"'],
    ['arguments that are no object', 'mute', { id: 'a', args: 'main' }, 'malformed', '"args"'],
    ['a bad time', 'mute', { id: 'a', not_after: 'tomorrow' }, 'malformed', 'not_after'],
  ])('refuses %s with a code and the mend', async (_, name, body, code, mend) => {
    const world = await live();
    world.command(name, body);
    const [answer] = world.answers(name);
    expect(commandResponseSchema.parse(answer)).toMatchObject({ id: 'a', status: 'error', error: { code } });
    expect(JSON.stringify(answer)).toContain(mend.replaceAll('"', '\\"'));
    expect(laneOf(world).orders.muted).toBe(false);
  });

  it('ignores what has no id to answer to', async () => {
    const world = await live();
    for (const payload of ['', 'no json', '[]', '{}', '{"id":""}', '{"id":5}'])
      world.command('mute', payload);
    expect(world.answers('mute')).toEqual([]);
    expect(laneOf(world).orders.muted).toBe(false);
  });

  it('does not carry out a command that is too late, nor one that is retained', async () => {
    const world = await live();
    world.command('mute', { id: 'late', not_after: '2026-01-15T08:59:59Z' });
    world.command('mute', { id: 'stuck' }, { retain: true });
    world.command('status', { id: 'good', not_after: '2026-01-15T10:00:00Z' });
    expect(world.answers('mute').map(({ status }) => status)).toEqual(['expired', 'error']);
    expect(world.answers('status')[0]).toMatchObject({ status: 'ok' });
    expect(laneOf(world).orders.muted).toBe(false);
  });

  it('carries a late command out while nobody knows what time it is', async () => {
    const world = await live();
    world.clock.setWall(null);
    world.command('mute', { id: 'a', not_after: '2020-01-01T00:00:00Z' });
    expect(world.answers('mute')[0]).toMatchObject({ status: 'ok', ts: null });
  });

  it('staggers a command to the whole fleet', async () => {
    const world = await live();
    world.deliver('dragoman/v1/museum/all/cmd/mute', { id: 'f', args: { spread_s: 60 } });
    expect(world.answers('mute').map(({ status }) => status)).toEqual(['accepted']);
    expect(laneOf(world).orders.muted).toBe(false);
    world.clock.advance(30_000);
    expect(world.answers('mute').map(({ status }) => status)).toEqual(['accepted', 'ok']);
    expect(laneOf(world).orders.muted).toBe(true);
  });

  it('carries a fleet command without a spread out at once', async () => {
    const world = await live();
    world.deliver('dragoman/v1/museum/all/cmd/mute', { id: 'f' });
    expect(world.answers('mute').map(({ status }) => status)).toEqual(['ok']);
  });

  it('does not listen to commands for others', async () => {
    const world = await live();
    world.deliver('dragoman/v1/museum/kiosk-02/cmd/mute', { id: 'a' });
    world.deliver(`${BASE}/cmd/mute/res`, { id: 'a' });
    expect(laneOf(world).orders.muted).toBe(false);
    expect(world.answers('mute')).toEqual([]);
  });
});
