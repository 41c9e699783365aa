import { describe, expect, it } from 'vitest';
import type { Denial, Grant } from '../../../src/device/lane/lane-event.ts';
import { createTokenClient } from '../../../src/device/tokens/token-client.ts';
import { createTokenStore } from '../../../src/device/tokens/token-store.ts';
import { createRepeatFilter } from '../../../src/machine/repeat-filter.ts';
import type { Bus, PublishOptions } from '../../../src/ports/bus.ts';
import { deviceTopics } from '../../../src/protocol/mqtt/topics.ts';
import { createVirtualClock } from '../../virtual-clock.ts';

const TOPICS = deviceTopics({ prefix: 'dragoman/v1', tenant: 'museum', device: 'kiosk-01' });

function start() {
  const clock = createVirtualClock();
  const silent = (): void => {};
  const log = { trace: silent, debug: silent, info: silent, warn: silent, error: silent };
  const tokenStore = createTokenStore(() => 'h', []);
  const sent: { body: Record<string, unknown>; options: PublishOptions }[] = [];
  const bus = {
    publish: (_topic: string, text: string, options: PublishOptions = {}) =>
      void sent.push({ body: JSON.parse(text), options }),
  } as unknown as Bus;
  const awaited = new Set<string>();
  const denials: Denial[] = [];
  const grants: Grant[] = [];
  let ids = 0;
  let answers = 0;
  const client = createTokenClient(
    {
      topics: TOPICS,
      tokenStore,
      clock,
      log,
      repeats: createRepeatFilter(clock),
      ended: { reportIn: () => ({}) },
      newId() {
        ids += 1;
        return `wire-id-${ids}`;
      },
    },
    {
      awaits: (lane, id) => awaited.has(`${lane} ${id}`),
      granted: (_lane, grant) => void grants.push(grant),
      denied: (_lane, _id, denial) => void denials.push(denial),
      answered() {
        answers += 1;
      },
      published: silent,
      malformed: silent,
      unusable: silent,
    },
  );
  const ask = (id: string, lane = 'main', attempt = 1): void => {
    awaited.add(`${lane} ${id}`);
    client.request(bus, lane, { id, reason: 'start', attempt });
  };
  const deny = (id: string, error: object): void =>
    client.receive({
      ts: null,
      id,
      ok: false,
      error: { code: 'busy', title: 'Busy', detail: 'later', final: false, ...error },
    });
  return { client, sent, awaited, denials, grants, ask, deny, tokenStore, answered: () => answers };
}

describe('a request for a token', () => {
  it('keeps its id when it is repeated, and each lane and request has one of its own', () => {
    const { sent, ask } = start();
    ask('r1');
    ask('r1', 'main', 2);
    ask('r1', 'desk');
    ask('r2');
    expect(sent.map(({ body }) => [body['id'], body['lane'], body['attempt']])).toEqual([
      ['wire-id-1', 'main', 1],
      ['wire-id-1', 'main', 2],
      ['wire-id-2', 'desk', 1],
      ['wire-id-3', 'main', 1],
    ]);
    // QoS 1, in the share of tokens; the broker drops it when it is too old.
    expect(sent[0]?.options).toMatchObject({
      qos: 1,
      share: 'tokens',
      properties: { responseTopic: 'dragoman/v1/museum/kiosk-01/token/res', expiryS: 30 },
    });
    expect(sent[0]?.options.retain ?? false).toBe(false);
  });

  it('is recognised as one of the last 64', () => {
    const { client, ask } = start();
    for (let count = 1; count <= 65; count += 1) ask(`r${count}`);
    const known = (id: number): boolean => client.awaits(`wire-id-${id}`);
    expect([known(1), known(2), known(65), known(66)]).toEqual([false, true, true, false]);
  });

  it('is awaited only as long as its lane waits', () => {
    const { client, ask, awaited, deny, denials, answered } = start();
    ask('r1');
    awaited.clear();
    expect(client.awaits('wire-id-1')).toBe(false);
    deny('wire-id-1', {});
    deny('unknown', {});
    // The backend lives, although the lane does not wait any more.
    expect([denials, answered()]).toEqual([[], 1]);
  });
});

describe('a denial', () => {
  it.each([
    [
      { retry_after_s: 30, final: false },
      { retryAfterMs: 30_000, final: false, message: 'later' },
    ],
    [
      { retry_after_s: null, final: true },
      { retryAfterMs: null, final: true },
    ],
    [{ detail: '' }, { message: 'Busy', retryAfterMs: null }],
    [{ detail: 'so '.repeat(200) }, { message: 'so '.repeat(200).slice(0, 200) }],
    [{ detail: 'wire-id-1 is known' }, { message: expect.not.stringContaining('wire-id-1') }],
  ])('with %j tells the lane %j', (error, denial) => {
    const { ask, deny, denials } = start();
    ask('r1');
    deny('wire-id-1', error);
    expect(denials).toMatchObject([denial]);
  });
});
