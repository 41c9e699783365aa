import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/adapters/log.ts';
import { createWebhook, MOST_WAITING, signatureOf } from '../../../src/backend/watch/webhook.ts';
import { until } from '../../until.ts';
import { createVirtualClock } from '../../virtual-clock.ts';
import { type FakeService, type Seen, startFakeService } from '../fake-service.ts';

const SECRET = 'a secret that no log may show'.replaceAll(' ', '-');
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A webhook and its receiver. @param statuses of the answers, the last one for all later messages; null: no answer */
async function start(statuses: readonly (number | null)[], secret = SECRET) {
  const left = [...statuses];
  const answer = (response: ServerResponse): void => {
    const status = left.length > 1 ? left.shift() : left[0];
    if (status === null || status === undefined) return;
    response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {});
    response.end();
  };
  const receiver: FakeService = await startFakeService((_, response) => answer(response));
  const clock = createVirtualClock();
  const lines: string[] = [];
  const counts: Record<string, number> = {};
  const webhook = createWebhook({
    url: `${receiver.url}/hook`,
    secret: () => secret,
    clock,
    timeoutMs: 2000,
    log: createLogger({ level: 'trace', format: 'json', sink: { write: (line) => lines.push(line) } }),
    counted: (result) => {
      counts[result] = (counts[result] ?? 0) + 1;
    },
  });
  closers.push(
    () => receiver.close(),
    () => webhook.close(),
  );
  return { receiver, clock, lines, counts, webhook };
}

describe('a message to the webhook', () => {
  it('is signed with its id and time, so that a receiver can check it', async () => {
    const { receiver, webhook, clock } = await start([204]);
    webhook.send('id-1', { kind: 'lost', device: 'museum/kiosk-01' });
    await until(() => receiver.seen.length === 1, 'the message');
    const { method, url, headers, body } = receiver.seen[0] as Seen;
    expect([method, url, headers['content-type']]).toEqual(['POST', '/hook', 'application/json']);
    const at = String(headers['webhook-timestamp']);
    expect(at).toBe(String(Math.floor((clock.wall() ?? 0) / 1000)));
    expect(headers['webhook-id']).toBe('id-1');
    const expected = createHmac('sha256', SECRET).update(`id-1.${at}.${body}`).digest('base64');
    expect(headers['webhook-signature']).toBe(`v1,${expected}`);
    expect(JSON.parse(body)).toEqual({ kind: 'lost', device: 'museum/kiosk-01' });
  });

  it('has the signature of the published example of Standard Webhooks', () => {
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const given = ['msg_p5jXN8AQM9LWM0D4loKWxJek', '1614265330', '{"test": 2432232314}'] as const;
    expect(signatureOf(secret, ...given)).toBe('g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  it('comes again with the same id, after growing waits, when the receiver answers 500', async () => {
    const { receiver, webhook, clock, counts } = await start([500, 503, 200]);
    webhook.send('id-1', {});
    webhook.send('id-2', {});
    await until(() => counts['retried'] === 1, 'the first try');
    await clock.elapse(999);
    expect(receiver.seen).toHaveLength(1);
    await clock.elapse(1);
    await until(() => counts['retried'] === 2, 'the second try');
    await clock.elapse(5000);
    await until(() => counts['sent'] === 2, 'both messages');
    expect(receiver.seen.map(({ headers }) => headers['webhook-id'])).toEqual([
      'id-1',
      'id-1',
      'id-1',
      'id-2',
    ]);
    const signatures = receiver.seen.map(({ headers }) => headers['webhook-signature']);
    expect(new Set(signatures).size).toBe(4);
  });

  it.each([
    ['hangs once', [null, ...Array<number>(5).fill(500)], /no answer in time/],
    ['answers 500', Array<number>(6).fill(500), /status 500/],
    [
      'redirects',
      Array<number>(6).fill(302),
      /redirects \(302\), which is not followed: correct webhook\.url/,
    ],
  ])(
    'is given up after six tries when the receiver %s, and the next one follows',
    async (_what, statuses, why) => {
      const { receiver, webhook, clock, counts, lines } = await start([...statuses, 200]);
      webhook.send('id-1', {});
      webhook.send('id-2', {});
      for (const [tries, waitMs] of [1000, 5000, 30_000, 120_000, 600_000].entries()) {
        await until(() => counts['retried'] === tries + 1, `try ${tries + 1}`);
        await clock.elapse(waitMs - 1);
        expect(clock.armed).toBe(1);
        await clock.elapse(1);
      }
      await until(() => counts['sent'] === 1, 'the next message');
      expect(counts).toEqual({ retried: 5, failed: 1, sent: 1 });
      expect(receiver.seen.map(({ url }) => url)).toEqual(Array(7).fill('/hook'));
      expect(lines.join('')).toMatch(why);
      expect(lines.join('')).not.toContain(SECRET);
    },
  );

  it('waits in a bounded queue, whose oldest is dropped', async () => {
    const { webhook, counts } = await start([null]);
    for (let index = 0; index < MOST_WAITING + 5; index += 1) webhook.send(`id-${index}`, {});
    expect(webhook.waiting).toBe(MOST_WAITING);
    expect(counts['dropped']).toBe(5);
  });

  it('keeps the newest messages and their order when too many wait', async () => {
    const { webhook, receiver, clock, counts } = await start([500, 200]);
    for (let index = 0; index < MOST_WAITING + 3; index += 1) webhook.send(`id-${index}`, {});
    await until(() => counts['retried'] === 1, 'the first try');
    await clock.elapse(1000);
    await until(() => webhook.waiting === 0, 'all messages');
    const ids = receiver.seen.map(({ headers }) => headers['webhook-id']);
    // The first one was on its way when it left the queue.
    const kept = Array.from({ length: MOST_WAITING }, (_, index) => `id-${index + 3}`);
    expect(ids).toEqual(['id-0', 'id-0', ...kept]);
  });

  it('does not delay the end of the backend while it waits for the next try', async () => {
    const { webhook, clock, counts, receiver } = await start([500]);
    webhook.send('id-1', {});
    await until(() => counts['retried'] === 1, 'the first try');
    await webhook.close();
    expect([clock.armed, receiver.seen.length, counts]).toEqual([0, 1, { retried: 1 }]);
  });

  it('does not delay the end of the backend while the receiver hangs', async () => {
    const { receiver, webhook, lines } = await start([null]);
    webhook.send('id-1', {});
    await until(() => receiver.seen.length === 1, 'the message');
    await webhook.close();
    expect(lines.join('')).toMatch(/"messages":1.*not sent/);
    webhook.send('id-2', {});
    expect(webhook.waiting).toBe(1);
  });
});
