import { describe, expect, it } from 'vitest';
import type { StreamConnection } from '../../../src/ports/stream.ts';
import { TOKEN } from '../fake-world.ts';
import { expectNoSecret, expectStreaming, explode, phaseOf, stopped, throwing } from './tools.ts';

describe('a stream that throws', () => {
  it('as it is opened is a failed try, told without its text, and the next one works', async () => {
    let isBroken = true;
    const world = throwing((given) => ({
      ...given,
      openStream: (url, listener) => (isBroken ? explode() : given.openStream(url, listener)),
    }));
    await world.agent.start();
    world.brokerUp();
    world.grant();
    expect(phaseOf(world)).toBe('waiting');
    expect(world.sent('event/internal_error')[0]?.body).toMatchObject({
      cause: 'internal_error',
      message: 'a defect of the program ended the stream (open: TypeError)',
    });
    expect(world.defects).toEqual(['stream.open']);
    expectNoSecret(world);
    expect(world.logged.map(([, , fields]) => String((fields as { err?: Error }).err?.stack))).not.toContain(
      expect.stringContaining(TOKEN),
    );
    isBroken = false;
    world.clock.advance(10_000);
    world.grant();
    world.lastStream().listener.opened();
    world.clock.advance(2800);
    world.service({ message_type: 'current_task', data: {} });
    expectStreaming(world);
  });

  const METHODS = ['setTask', 'getTask', 'sendAudio', 'ping'] as const;
  it.each(METHODS)('in %s is cut, told and replaced', async (method) => {
    let isBroken = true;
    const world = throwing((given) => ({
      ...given,
      openStream: (url, listener): StreamConnection => {
        const connection = given.openStream(url, listener);
        return isBroken ? { ...connection, [method]: explode } : connection;
      },
    }));
    await world.goLive();
    world.speak();
    world.clock.advance(4000);
    expect(world.defects).toContain(`stream.${method}`);
    expect(world.streams[0]?.calls).toContain('terminate');
    expect(world.sent('event/internal_error').length).toBeGreaterThan(0);
    const said = world.sent('event/internal_error').length;
    world.streams[0]?.listener.ended(1006, '');
    expect(world.sent('event/internal_error')).toHaveLength(said);
    isBroken = false;
    for (let s = 0; s < 60 && world.streams.length === 1; s++) {
      world.clock.advance(1000);
      if (phaseOf(world) === 'acquiring') world.grant();
    }
    world.lastStream().listener.opened();
    world.clock.advance(2800);
    world.service({ message_type: 'current_task', data: {} });
    expectStreaming(world);
    expectNoSecret(world);
  });

  it('in the count of its waiting bytes is replaced, too', async () => {
    const world = throwing((given) => ({
      ...given,
      openStream: (url, listener) =>
        Object.defineProperty({ ...given.openStream(url, listener) }, 'bufferedBytes', { get: explode }),
    }));
    await world.goLive();
    world.speak();
    expect(world.defects).toEqual(['stream.bufferedBytes']);
    expect(phaseOf(world)).toBe('waiting');
  });

  it.each(['endTask', 'close', 'terminate'] as const)(
    'in %s does not keep the agent from ending',
    async (method) => {
      const world = throwing((given) => ({
        ...given,
        openStream: (url, listener) => ({ ...given.openStream(url, listener), [method]: explode }),
      }));
      await world.goLive();
      if (method === 'terminate') {
        world.lastStream().listener.ended(1006, '');
        expect(phaseOf(world)).toBe('waiting');
      }
      await stopped(world);
      expect(world.defects).toEqual([`stream.${method}`]);
      expect(world.finale).not.toBeNull();
    },
  );
});
