import { describe, expect, it } from 'vitest';
import { stateSchema } from '../../src/protocol/mqtt/device.ts';
import { closed } from '../service-events.ts';
import { createFakeDeps } from './fake-deps.ts';

describe('speech that is held in an outage when the agent ends', () => {
  it.each([
    ['while no token has arrived', 0],
    ['while it waits for the next attempt', 1],
  ])('is reported before the device is offline, %s', async (_, tries) => {
    const deps = createFakeDeps();
    await deps.goLive();
    deps.lastStream().listener.said(closed());
    for (let i = 0; i < 20; i++) {
      deps.speak();
      if (i >= tries) continue;
      deps.grant();
      deps.lastStream().listener.unreached(false, 'it was reset');
    }
    expect(deps.sent('event/speech_lost')).toEqual([]);
    // A state published now delays the next one.
    deps.command('echo', { id: 'e', args: { mode: 'off' } });
    await deps.agent.stop();
    expect(deps.sent('event/speech_lost').map(({ body }) => body['lost_ms'])).toEqual([20 * 320]);
    // The final state contains this too; it is not the state of a second ago.
    const { lanes } = stateSchema.parse(deps.sent('state').at(-1)?.body);
    expect(lanes[0]).toMatchObject({ phase: 'closed', speech_lost_ms: 20 * 320 });
  });
});
