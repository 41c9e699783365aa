/** The question to the broker for one document: its absence must be certain. And a publication, which must not come late. */
import { describe, expect, it } from 'vitest';
import { createDesiredLook, createDesiredPublish } from '../../../src/backend/console/desired-look.ts';
import type { BusListener, BusOptions, PublishOptions } from '../../../src/ports/bus.ts';
import { createVirtualClock } from '../../virtual-clock.ts';

const TOPIC = 'dragoman/v1/museum/a/config/desired';
const MARKER = 'dragoman/v1/museum/backend/config/desired';

function begin() {
  const clock = createVirtualClock(0, 1_790_000_000_000);
  const published: { topic: string; payload: string }[] = [];
  let listener: BusListener | null = null;
  let options: BusOptions | null = null;
  let closed = 0;
  const look = createDesiredLook((given, to) => {
    [options, listener] = [given, to];
    return {
      connected: true,
      outbox: { depth: 0, dropped: 0 },
      publish: (topic, payload) => void published.push({ topic, payload }),
      urgent: () => {},
      reconnect: () => {},
      async close() {
        closed += 1;
      },
    };
  }, clock);
  let answer: unknown = 'none yet';
  const done = look(TOPIC, MARKER).then(
    (found) => {
      answer = found;
    },
    (error: unknown) => {
      answer = error;
    },
  );
  const hear = (topic: string, payload: string): void =>
    listener?.message({ topic, payload, retain: true, properties: {} });
  return {
    clock,
    done,
    hear,
    published,
    bus: () => listener as unknown as BusListener,
    filters: () => options?.subscriptions,
    closed: () => closed,
    answer: () => answer,
    settle: async () => {
      for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
    },
    marker: () => published.at(-1)?.payload ?? '',
  };
}

describe('the look for a desired configuration', () => {
  it('finds no document only when its marker has come back', async () => {
    const look = begin();
    expect(look.filters()).toEqual([TOPIC, MARKER]);
    look.bus().up(1, 5);
    expect(look.published).toEqual([{ topic: MARKER, payload: expect.stringContaining('"id"') }]);
    look.hear(MARKER, JSON.stringify({ id: 'of another backend' }));
    look.clock.advance(9999);
    await look.settle();
    expect(look.answer()).toBe('none yet');
    look.hear(MARKER, look.marker());
    await look.done;
    expect([look.answer(), look.closed()]).toEqual([null, 1]);
  });

  it('finds the latest document that came before the marker', async () => {
    const look = begin();
    look.bus().up(1, 5);
    look.hear(TOPIC, '{"version":7}');
    look.hear(TOPIC, '{"version":8}');
    look.hear(MARKER, look.marker());
    await look.done;
    expect(look.answer()).toBe('{"version":8}');
  });

  it.each([
    ['no connection is possible', (listener: BusListener) => listener.down('refused', 'not authorized')],
    ['nothing comes back', (listener: BusListener) => listener.up(1, 5)],
  ])('fails after ten seconds when %s', async (_, act) => {
    const look = begin();
    act(look.bus());
    look.clock.advance(10_000);
    await look.done;
    expect(look.answer()).toMatchObject({ status: 503, problem: { code: 'broker_away' } });
    expect(String(look.answer())).toMatch(
      /nothing was changed.*\((not authorized|it did not answer in time)\)/,
    );
    expect(look.closed()).toBe(1);
  });

  it('fails at once when the broker refuses the marker', async () => {
    const look = begin();
    look.bus().up(1, 5);
    look.bus().lost?.({ topic: MARKER, why: 'refused', reason: 'not authorized' });
    await look.done;
    expect(look.answer()).toMatchObject({ status: 503 });
  });
});

describe('the publication of a desired configuration', () => {
  const publish = () => {
    const clock = createVirtualClock();
    const sent: PublishOptions[] = [];
    let listener: BusListener | null = null;
    let isClosed = false;
    const answers: string[] = [];
    const done = createDesiredPublish((_, to) => {
      listener = to;
      return {
        connected: true,
        outbox: { depth: 0, dropped: 0 },
        publish: (_topic, _payload, how = {}) => void sent.push(how),
        urgent: () => {},
        reconnect: () => {},
        async close() {
          isClosed = true;
        },
      };
    }, clock)(TOPIC, '{"version":8}').then(
      () => void answers.push(`published, closed: ${isClosed}`),
      (error: unknown) => void answers.push(`${String(error)}, closed: ${isClosed}`),
    );
    return { clock, sent, done, answers, bus: () => listener as unknown as BusListener };
  };

  it('ends when the broker has confirmed it', async () => {
    const { clock, sent, done, answers } = publish();
    expect(sent).toMatchObject([{ qos: 1, retain: true }]);
    sent[0]?.ended?.(true);
    await done;
    expect([answers, clock.armed]).toEqual([['published, closed: true'], 0]);
  });

  it.each([
    ['the broker refuses it', 'not authorized', 0],
    ['nothing comes back within ten seconds', 'it did not answer in time', 10_000],
    ['the connection is lost', 'the network is away', 10_000],
  ])('ends with its connection, so that nothing is sent later, when %s', async (_, why, ms) => {
    const { clock, sent, done, answers, bus } = publish();
    if (why === 'not authorized') {
      bus().lost?.({ topic: TOPIC, why: 'refused', reason: why });
      sent[0]?.ended?.(false);
    }
    if (why === 'the network is away') bus().down('unreachable', why);
    clock.advance(ms);
    await done;
    expect(answers).toEqual([expect.stringMatching(`not confirmed .*\\(${why}\\).*load.*closed: true`)]);
    expect(clock.armed).toBe(0);
  });
});
