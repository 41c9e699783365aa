import { describe, expect, it } from 'vitest';
import { stateSchema } from '../../src/protocol/mqtt/device.ts';
import { refused } from '../service-events.ts';
import { createFakeDeps } from './fake-deps.ts';

type FakeDeps = ReturnType<typeof createFakeDeps>;

function reported(deps: FakeDeps) {
  deps.clock.advance(1500);
  return stateSchema.parse(deps.sent('state').at(-1)?.body).lanes[0];
}

describe('the next attempt', () => {
  it('is in the state while the lane waits for it, with the host that could not be reached', async () => {
    const deps = createFakeDeps();
    await deps.agent.start();
    deps.brokerUp();
    deps.grant();
    const said = { status: 403, errorCode: 100_050, detail: 'Insufficient balance: top up' };
    deps.lastStream().listener.said(refused('insufficient_balance', said));
    const parked = reported(deps);
    const waitMs = Date.parse(parked?.next_try_at ?? '') - (deps.clock.wall() ?? 0);
    expect(waitMs).toBeGreaterThan(230_000);
    expect(waitMs).toBeLessThan(600_000);
    const message = 'the service refused the stream with HTTP 403: 100050 Insufficient balance: top up';
    expect(parked?.last_error).toMatchObject({ code: 'insufficient_balance', message });
    expect(deps.sent('event/refused')[0]?.body).toMatchObject({ message, error_code: 100_050 });

    deps.command('start', { id: 'c1' });
    deps.grant();
    deps.lastStream().listener.unreached(false, 'the service does not accept connections');
    expect(reported(deps)?.last_error?.message).toBe(
      'cannot reach service.example: the service does not accept connections',
    );
  });
});

describe('the connection to the owner', () => {
  it('is urgent during speech or while sound is held, and for a short time after that', async () => {
    const deps = createFakeDeps();
    await deps.goLive();
    for (let i = 0; i < 40; i++) deps.speak(20);
    expect(deps.urgent).toBe(false);
    deps.speak();
    deps.speak();
    expect(deps.urgent).toBe(true);
    for (let i = 0; i < 40; i++) deps.speak(20);
    expect(deps.urgent).toBe(true);
    for (let i = 0; i < 160; i++) deps.speak(20);
    expect(deps.urgent).toBe(false);
  });
});
