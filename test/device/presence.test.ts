/** The device's own status at the broker, and other devices with the same name. */
import { describe, expect, it } from 'vitest';
import { createFakeDeps } from './fake-deps.ts';

type Fake = ReturnType<typeof createFakeDeps>;
const STATUS = 'dragoman/v1/museum/kiosk-01/status';
const statuses = (deps: Fake) => deps.sent('status').map(({ body }) => body);
const conflicts = (deps: Fake) => deps.sent('event/identity_conflict').map(({ body }) => body);
const logged = (deps: Fake, words: string) =>
  deps.logged.filter(([, sentence]) => String(sentence).includes(words)).length;
const TEN_MINUTES = 600_000;

async function online() {
  const deps = createFakeDeps();
  await deps.goLive();
  await deps.clock.elapse(0);
  return deps;
}

describe('the status that the broker keeps', () => {
  it('is corrected when a will of an older connection, or anything else, overwrites it', async () => {
    const deps = await online();
    const before = statuses(deps).length;
    deps.deliver(STATUS, { ...statuses(deps)[0], status: 'lost', conn_seq: 0, reasons: ['connection_lost'] });
    expect(statuses(deps)).toHaveLength(before + 1);
    expect(statuses(deps).at(-1)).toMatchObject({ status: 'ready', conn_seq: 1, reasons: [] });
    expect(conflicts(deps)).toEqual([]);
  });

  it('is corrected when the overwriting message is too large to read', async () => {
    const deps = await online();
    const before = statuses(deps).length;
    deps.oversized(STATUS, 300_000);
    expect(statuses(deps)).toHaveLength(before + 1);
    expect(statuses(deps).at(-1)).toMatchObject({ status: 'ready', conn_seq: 1 });
    // Repeated overwriting causes at most one correction in two seconds; other topics cause none.
    for (let i = 0; i < 50; i++) deps.deliver(STATUS, 'rubbish');
    deps.oversized(`${STATUS}x`, 300_000);
    await deps.clock.elapse(12_000);
    expect(statuses(deps)).toHaveLength(before + 2);
  });

  it('names the topics that the broker does not let it subscribe to, until it does', async () => {
    const deps = await online();
    const base = 'dragoman/v1/museum';
    const { refused } = deps.bus.listener;
    refused?.([`${base}/kiosk-01/token/res`, `${base}/all/cmd/+`, `${base}/kiosk-01/status`]);
    expect(statuses(deps).at(-1)).toMatchObject({
      status: 'degraded',
      reasons: ['not_subscribed:token/res', 'not_subscribed:all/cmd'],
    });
    expect(logged(deps, 'refuses subscriptions')).toBe(1);
    refused?.([`${base}/kiosk-01/status`]);
    expect(statuses(deps).at(-1)).toMatchObject({ status: 'ready', reasons: [] });
    refused?.([]);
    expect(logged(deps, 'the broker allows all subscriptions')).toBe(1);
  });

  it('says what the broker does not allow, once, until it does', async () => {
    const deps = await online();
    const { limited } = deps.bus.listener;
    limited?.(['retain', 'qos']);
    limited?.(['retain', 'qos']);
    expect(statuses(deps).at(-1)).toMatchObject({
      status: 'degraded',
      reasons: ['broker_limits:retain', 'broker_limits:qos'],
    });
    expect(logged(deps, 'the agent continues without them')).toBe(1);
    limited?.([]);
    limited?.([]);
    expect(statuses(deps).at(-1)).toMatchObject({ status: 'ready', reasons: [] });
    expect(logged(deps, 'the broker allows all that')).toBe(1);
  });
});

describe('an identity that two devices use', () => {
  it('is reported by status, event and log, and the connection adapts, for ten minutes', async () => {
    const deps = await online();
    const disputes: boolean[] = [];
    deps.bus.disputes = (isDisputed) => void disputes.push(isDisputed);
    deps.bus.listener.down('taken_over', 'another client connected');
    expect(logged(deps, 'another device uses this identity')).toBe(1);
    expect(conflicts(deps)).toMatchObject([{ lane: null }]);
    deps.brokerUp(2);
    expect(statuses(deps).at(-1)).toMatchObject({ status: 'degraded', reasons: ['identity_conflict'] });
    expect(disputes).toEqual([true]);
    await deps.clock.elapse(TEN_MINUTES);
    expect(statuses(deps).at(-1)?.['reasons']).not.toContain('identity_conflict');
    expect(logged(deps, 'no other device uses this identity')).toBe(1);
    expect(disputes).toEqual([true, false]);
    // Another device that publishes is named.
    deps.deliver(STATUS, { status: 'ready', boot_id: 'other-boot', conn_seq: 1 });
    expect(conflicts(deps).at(-1)).toMatchObject({ other_boot_id: 'other-boot' });
  });

  it('drops the reason for a refusal after ten minutes, even if the bus itself meanwhile drops messages on that topic', async () => {
    const deps = await online();
    const lost = { topic: 'dragoman/v1/museum/kiosk-01/event/outage', why: 'refused', reason: '' } as const;
    for (let i = 0; i < 30; i++) {
      deps.bus.listener.lost?.(lost);
      await deps.clock.elapse(9900);
    }
    expect(statuses(deps).at(-1)?.['reasons']).toContain('not_published:event');
    await deps.clock.elapse(TEN_MINUTES - 30 * 9900 + 1000);
    expect(statuses(deps).at(-1)?.['reasons']).not.toContain('not_published:event');
  });

  it('names the topics that the broker does not let it publish, until ten minutes without a refusal', async () => {
    const deps = await online();
    const own = 'dragoman/v1/museum/kiosk-01';
    const lose = (what: string, why: 'refused' | 'full' = 'refused') =>
      deps.bus.listener.lost?.({ topic: `${own}/${what}`, why, reason: 'Not authorized' });
    // No backend answers the lane here: that is a separate reason.
    const told = () => {
      const { reasons } = statuses(deps).at(-1) as { reasons: string[] };
      return reasons.filter((reason) => reason.startsWith('not_published'));
    };
    lose('state', 'full');
    lose('status');
    expect(told()).toEqual([]);
    for (const what of ['state', 'event/audio_cut', 'event/outage', 'cmd/say/res', 'token/req']) lose(what);
    expect(told()).toEqual(['token/req', 'cmd', 'event', 'state'].map((name) => `not_published:${name}`));
    expect(statuses(deps).at(-1)).toMatchObject({ status: 'degraded' });
    await deps.clock.elapse(300_000);
    lose('state');
    await deps.clock.elapse(301_000);
    expect(told()).toEqual(['not_published:state']);
    await deps.clock.elapse(300_000);
    expect(told()).toEqual([]);
  });
});
