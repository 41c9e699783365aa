import { describe, expect, it } from 'vitest';
import { DESIRED_KEYS, desiredSchema } from '../../src/protocol/config.ts';
import { COMMANDS } from '../../src/protocol/mqtt/commands/registry.ts';
import { heard, translated, understood } from '../service-events.ts';
import { createFakeDeps } from './fake-deps.ts';

describe('captions', () => {
  it('are neither published nor logged', async () => {
    const deps = createFakeDeps();
    await deps.goLive();
    const words = 'words of a visitor';
    for (const say of [heard, understood, translated]) deps.service(say({ id: 't1', text: words }));
    deps.clock.advance(2000);
    expect(deps.agent.lanes[0]?.phase).toBe('live');
    expect(JSON.stringify([deps.published, deps.logged])).not.toContain(words);
    expect(deps.sent('caption')).toEqual([]);
  });

  it('cannot be switched on over the network', () => {
    const remote = [Object.keys(COMMANDS), Object.values(DESIRED_KEYS)].flat(2).map(String);
    expect(remote.filter((name) => /caption|transcri|screen/i.test(name))).toEqual([]);
    expect(Object.keys(desiredSchema.shape).filter((name) => /caption|transcri/i.test(name))).toEqual([]);
    expect(Object.keys(desiredSchema.shape.screen.unwrap().shape)).toEqual(['operator']);
  });
});
