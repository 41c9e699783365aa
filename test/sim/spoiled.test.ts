import { describe, expect, it } from 'vitest';
import type { AgentDeps } from '../../src/device/deps/deps.ts';
import { rulesThatNotice } from './spoiled.ts';

describe('the oracles', () => {
  it('find an agent that answers commands twice', async () => {
    const echo = (world: AgentDeps): AgentDeps => ({
      ...world,
      openBus: (options, listener) => {
        const bus = world.openBus(options, listener);
        const publish: typeof bus.publish = (topic, payload, more) => {
          bus.publish(topic, payload, more);
          if (topic.includes('/cmd/')) bus.publish(topic, payload, more);
        };
        return { ...bus, publish };
      },
    });
    expect(await rulesThatNotice(echo, { first: 4201 })).toContain('command');
  });
});
