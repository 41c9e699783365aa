/** What the owner's webhook and Prometheus get from a running backend. */
import { describe, expect, it } from 'vitest';
import { shortId } from '../../../src/protocol/short-id.ts';
import { STATUS } from '../../examples/monitored-backends.ts';
import { fixtureOfEachTest } from '../backend-on-loopback.ts';
import { answerJson, type FakeService, startFakeService } from '../fake-service.ts';
import { createJumpingClock } from './jumping-clock.ts';

const { start } = fixtureOfEachTest();

describe('the webhook of a running backend', () => {
  it('gets one message when a device is lost, and one when it is back', async () => {
    const clock = createJumpingClock();
    const receiver: FakeService = await startFakeService((_, response) => answerJson(response, 204, ''));
    const { bus, backend } = await start({
      clock,
      webhookSecret: 'secret',
      config: {
        metrics: { listen: '127.0.0.1:0' },
        webhook: { url: receiver.url, secretFile: 'secret' },
        devices: { 'museum/kiosk-01': { site: 'Main hall' } },
      },
    });
    const report = async (status: string, reasons: string[]) => {
      const body = JSON.stringify({ ...STATUS, status, reasons });
      bus.publish('dragoman/v1/museum/kiosk-01/status', body, { retain: true });
      const shown = `dragoman_device_status{device="museum/kiosk-01",status="${status}"} 1\n`;
      await expect.poll(async () => (await fetch(`${backend.watchedAt}/metrics`)).text()).toContain(shown);
      clock.jump(31_000);
    };
    const messages = () => receiver.seen.map(({ body }) => JSON.parse(body) as object);
    await report('lost', ['connection_lost']);
    await expect.poll(messages).toHaveLength(1);
    await report('ready', []);
    await expect.poll(messages).toHaveLength(2);
    const about = { ts: expect.any(String), device: 'museum/kiosk-01', group: null, site: 'Main hall' };
    expect(messages()).toEqual([
      { ...about, kind: 'lost', before: null, reasons: ['connection_lost'] },
      { ...about, kind: 'recovered', before: 'lost', reasons: [] },
    ]);
    await receiver.close();
  });

  it('gets a message at once when a visitor calls staff, and none when the call is answered', async () => {
    const receiver: FakeService = await startFakeService((_, response) => answerJson(response, 204, ''));
    const { bus } = await start({
      webhookSecret: 'secret',
      config: {
        webhook: { url: receiver.url, secretFile: 'secret' },
        devices: { 'museum/kiosk-01': { site: 'Main hall' } },
      },
    });
    const messages = () => receiver.seen.map(({ body }) => JSON.parse(body) as object);
    const call = (device: string, help: object | null): void => {
      const body = { ts: null, boot_id: 'b', lanes: [], help };
      bus.publish(`dragoman/v1/museum/${device}/state`, JSON.stringify(body), { qos: 1 });
    };
    const status = (device: string, now: string): void =>
      bus.publish(
        `dragoman/v1/museum/${device}/status`,
        JSON.stringify({ ...STATUS, status: now, reasons: [] }),
        { qos: 1 },
      );
    const open = { state: 'called', since: '2026-11-27T10:00:00.000Z', by: null };
    // A lost device's state may be old.
    status('kiosk-02', 'lost');
    call('kiosk-02', open);
    status('kiosk-01', 'ready');
    for (let report = 0; report < 3; report++) call('kiosk-01', open);
    call('kiosk-01', { ...open, state: 'unanswered' });
    call('kiosk-01', { ...open, state: 'answered', by: 'Ann' });
    call('kiosk-01', null);
    status('kiosk-03', 'idle');
    call('kiosk-03', open);
    await expect.poll(messages).toHaveLength(2);
    const about = { ts: expect.any(String), kind: 'help', before: null, group: null, reasons: [] };
    expect(messages()).toEqual([
      { ...about, device: 'museum/kiosk-01', site: 'Main hall' },
      { ...about, device: 'museum/kiosk-03', site: null },
    ]);
    await receiver.close();
  });

  it('gets a message when a device is silent for three minutes, whatever the broker has kept', async () => {
    const clock = createJumpingClock();
    const receiver: FakeService = await startFakeService((_, response) => answerJson(response, 204, ''));
    const { bus, backend } = await start({
      clock,
      webhookSecret: 'secret',
      config: { metrics: { listen: '127.0.0.1:0' }, webhook: { url: receiver.url, secretFile: 'secret' } },
    });
    const topic = 'dragoman/v1/museum/kiosk-01';
    const shows = (status: string) =>
      expect
        .poll(async () => (await fetch(`${backend.watchedAt}/metrics`)).text())
        .toContain(`dragoman_device_status{device="museum/kiosk-01",status="${status}"} 1\n`);
    const messages = () => receiver.seen.map(({ body }) => JSON.parse(body) as object);
    bus.publish(`${topic}/status`, JSON.stringify({ ...STATUS, status: 'ready', reasons: [] }), {
      retain: true,
    });
    await shows('ready');
    clock.jump(181_000);
    await shows('lost');
    clock.jump(31_000);
    await expect.poll(messages).toMatchObject([{ kind: 'lost', device: 'museum/kiosk-01' }]);
    bus.publish(`${topic}/health`, JSON.stringify({ boot_id: 'b', lanes: [] }));
    await shows('ready');
    clock.jump(31_000);
    await expect.poll(messages).toMatchObject([{ kind: 'lost' }, { kind: 'recovered', before: 'lost' }]);
    await receiver.close();
  });

  it('gets a message when a group has used its budget, which its devices lead to', async () => {
    const clock = createJumpingClock();
    const receiver: FakeService = await startFakeService((_, response) => answerJson(response, 204, ''));
    const fixture = await start({
      clock,
      webhookSecret: 'secret',
      config: {
        webhook: { url: receiver.url, secretFile: 'secret' },
        groups: [{ name: 'halls', members: ['museum/hall-*'], minutesPerMonth: 10 }],
      },
    });
    const { session } = (await fixture.ask('hall-1', 'r1')) as unknown as { session: { id: string } };
    const ended = {
      ts: null,
      lane: 'main',
      session: shortId(session.id),
      cause: 'stopped',
      live_ms: 660_000,
    };
    fixture.bus.publish('dragoman/v1/museum/hall-1/event/session_ended', JSON.stringify(ended));
    await fixture.settle();
    clock.jump(600_000);
    for (let looks = 0; looks < 100 && receiver.seen.length === 0; looks += 1) {
      clock.jump(31_000);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(JSON.parse(receiver.seen[0]?.body ?? '')).toMatchObject({
      kind: 'over_budget',
      before: null,
      device: null,
      group: 'halls',
      site: null,
      reasons: [],
    });
    await receiver.close();
  });
});
