import { describe, expect, it } from 'vitest';
import type { StreamConnection } from '../../../src/ports/stream.ts';
import { closed, ready } from '../../service-events.ts';
import { TOKEN } from '../fake-deps.ts';
import { expectNoSecret, expectStreaming, expectTold, explode, phaseOf, stopped, throwing } from './tools.ts';

describe('a stream that throws', () => {
  it('on opening is a failed attempt, reported without its text, and the next one works', async () => {
    let isBroken = true;
    const deps = throwing((given) => ({
      ...given,
      openStream: (url, listener) => (isBroken ? explode() : given.openStream(url, listener)),
    }));
    await deps.agent.start();
    deps.brokerUp();
    deps.grant();
    expect(phaseOf(deps)).toBe('waiting');
    expect(deps.sent('event/internal_error')[0]?.body).toMatchObject({
      cause: 'internal_error',
      message: 'a defect of the program ended the stream (open: TypeError)',
    });
    expect(deps.defects).toEqual(['stream.open']);
    expectTold(deps);
    expectNoSecret(deps);
    expect(deps.logged.map(([, , fields]) => String((fields as { err?: Error }).err?.stack))).not.toContain(
      expect.stringContaining(TOKEN),
    );
    isBroken = false;
    deps.clock.advance(10_000);
    deps.grant();
    deps.lastStream().listener.opened();
    deps.clock.advance(2800);
    deps.service(ready());
    expectStreaming(deps);
  });

  const METHODS = ['runTask', 'askForTask', 'sendAudio', 'ping'] as const;
  it.each(METHODS)('in %s is terminated, reported and replaced', async (method) => {
    let isBroken = true;
    const deps = throwing((given) => ({
      ...given,
      openStream: (url, listener): StreamConnection => {
        const connection = given.openStream(url, listener);
        return isBroken ? { ...connection, [method]: explode } : connection;
      },
    }));
    await deps.goLive();
    deps.speak();
    deps.clock.advance(4000);
    expect(deps.defects).toContain(`stream.${method}`);
    expectTold(deps);
    expect(deps.streams[0]?.calls).toContain('terminate');
    expect(deps.sent('event/internal_error').length).toBeGreaterThan(0);
    const said = deps.sent('event/internal_error').length;
    deps.streams[0]?.listener.said(closed());
    expect(deps.sent('event/internal_error')).toHaveLength(said);
    isBroken = false;
    for (let s = 0; s < 60 && deps.streams.length === 1; s++) {
      deps.clock.advance(1000);
      if (phaseOf(deps) === 'acquiring') deps.grant();
    }
    deps.lastStream().listener.opened();
    deps.clock.advance(2800);
    deps.service(ready());
    expectStreaming(deps);
    expectNoSecret(deps);
  });

  it('in the count of its pending bytes is replaced, too', async () => {
    const deps = throwing((given) => ({
      ...given,
      openStream: (url, listener) =>
        Object.defineProperty({ ...given.openStream(url, listener) }, 'bufferedBytes', { get: explode }),
    }));
    await deps.goLive();
    deps.speak();
    expect(deps.defects).toEqual(['stream.bufferedBytes']);
    expectTold(deps);
    expect(phaseOf(deps)).toBe('waiting');
  });

  it.each(['end', 'close', 'terminate'] as const)(
    'in %s does not block the end of the agent',
    async (method) => {
      const deps = throwing((given) => ({
        ...given,
        openStream: (url, listener) => ({ ...given.openStream(url, listener), [method]: explode }),
      }));
      await deps.goLive();
      if (method === 'terminate') {
        deps.lastStream().listener.said(closed());
        expect(phaseOf(deps)).toBe('waiting');
      }
      await stopped(deps);
      expect(deps.defects).toEqual([`stream.${method}`]);
      expectTold(deps);
      expect(deps.finale).not.toBeNull();
    },
  );
});
