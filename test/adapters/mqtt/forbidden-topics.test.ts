/** A whole agent at an MQTT 3.1.1 broker that disconnects a device for a forbidden topic. */
import { connect } from 'mqtt';
import { describe, expect, it } from 'vitest';
import { hangUp } from './forbidding-broker.ts';

describe('an agent whose broker hangs up because of a topic', () => {
  const { boot, goLive, passUntil, send, of, givenUp, expectNoOther, goesOnWithout, ...given } = hangUp();
  const { world, port, forbidNothing } = given;

  goesOnWithout([
    ['state', /^state$/, 'state', 'state'],
    ['all but its questions', /^(?!token\/req)/, 'status', null],
  ]);

  it('works without answers that are forbidden, and logs their topics', async () => {
    await boot(/^cmd\/.*\/res$/);
    await goLive();
    await passUntil(() => false, 90);
    send('cmd/status', { id: 'a' });
    await passUntil(() => givenUp().includes('refused cmd/status/res'), 60);
    expect(givenUp()).toContain('refused cmd/status/res');
    await passUntil(() => of('status').at(-1)?.['status'] === 'degraded', 10);
    expect(of('status').at(-1)?.['reasons']).toContain('not_published:cmd');
    send('cmd/mute', { id: 'b' });
    await passUntil(() => givenUp().includes('refused cmd/mute/res'), 60);
    expect(world().agent.lanes[0]?.state.options.muted).toBe(true);
    await passUntil(() => false, 200);
    expectNoOther();
  });

  it('publishes within six minutes after the topic is allowed', async () => {
    await boot(/^stat(e|us)$/);
    await goLive();
    await passUntil(() => givenUp().length >= 2, 60);
    forbidNothing();
    const tookS = await passUntil(() => of('status').length > 0 && of('state').length > 0, 1200);
    expect(tookS).toBeLessThanOrEqual(360);
    expect(of('status').at(-1)?.['status']).toBe('degraded');
    await passUntil(() => of('status').at(-1)?.['status'] === 'ready', 700);
    expect(of('status').at(-1)).toMatchObject({ status: 'ready', reasons: [] });
    expectNoOther();
  });

  it('still recognises another client with its name, and blames no topic', async () => {
    await boot(/(?!)/);
    await goLive();
    const intruder = connect(`mqtt://127.0.0.1:${port()}`, {
      ...{ clientId: 'museum.kiosk-01', protocolVersion: 4, reconnectPeriod: 50 },
    });
    try {
      const isReported = () => JSON.stringify(world().logged).includes('another client uses the identifier');
      await passUntil(isReported, 300);
      expect(isReported()).toBe(true);
    } finally {
      await intruder.endAsync(true);
    }
    expect(givenUp()).toEqual([]);
  });
});
