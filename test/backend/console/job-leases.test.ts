/** Jobs on their way, in virtual time: how they are sent, and how two backends share those of a store. */
import { describe, expect, it } from 'vitest';
import { Jobs } from '../../../src/backend/jobs/jobs.ts';
import type { PublishOptions } from '../../../src/ports/bus.ts';
import type { ConsoleStore, StoredJob } from '../../../src/ports/console-store.ts';
import type { Job } from '../../../src/protocol/console-jobs.ts';
import { createVirtualClock } from '../../virtual-clock.ts';

const JOB = {
  who: 'ann',
  command: 'mute',
  args: {},
  validMs: 3_600_000,
  devices: ['museum/a'],
  auditLine: 'l',
};

function twoBackends() {
  const clock = createVirtualClock();
  const rows = new Map<string, { job: StoredJob; instance: string; until: number }>();
  const store: Pick<ConsoleStore, 'saveJob' | 'claimJobs'> = {
    async saveJob(job, instance, leaseMs) {
      const row = rows.get(job.id);
      if (row !== undefined && row.instance !== instance) return false;
      rows.set(job.id, { job, instance, until: clock.now() + leaseMs });
      return true;
    },
    async claimJobs(instance, leaseMs) {
      const lost = [...rows.values()].filter(({ job, until }) => job.endedAt === null && until < clock.now());
      for (const row of lost) Object.assign(row, { instance, until: clock.now() + leaseMs });
      return lost.map(({ job }) => job);
    },
  };
  const sent: string[] = [];
  const messages: { topic: string; body: Record<string, unknown>; options: PublishOptions }[] = [];
  const ended: Job[] = [];
  const signing = { takesMs: 0, fails: false };
  const broker = { connected: true, takes: true, away: new Set<string>() };
  const open = (name: string) =>
    new Jobs({
      store: store as ConsoleStore,
      bus: () => ({
        get connected() {
          return broker.connected;
        },
        outbox: { depth: 0, dropped: 0 },
        publish(topic, text, options = {}) {
          sent.push(name);
          messages.push({ topic, body: JSON.parse(JSON.parse(text).jws), options });
          if (broker.takes) options.ended?.(true);
        },
      }),
      prefix: 'dragoman/v1',
      signer: {
        kid: 'key',
        async sign(_type, _about, body) {
          if (signing.fails) throw new Error('the key is unusable');
          if (signing.takesMs > 0)
            await new Promise<void>((resolve) => void clock.at(clock.now() + signing.takesMs, resolve));
          return JSON.stringify(body);
        },
      },
      clock,
      complain: (_kind, fields) => {
        throw new Error(JSON.stringify(fields));
      },
      isConnected: (device) => !broker.away.has(device),
      whySilent: () => 'silent',
      ended: (job) => void ended.push(job),
    });
  return { clock, sent, messages, ended, broker, signing, rows, one: open('one'), other: open('other') };
}

describe('a job of one of two backends', () => {
  it('stays with it as long as it works on it, and is sent once', async () => {
    const { clock, sent, one, other } = twoBackends();
    const { id } = await one.begin({ ...JOB });
    await clock.elapse(90_000);
    expect(sent).toEqual(['one']);
    expect(one.find(id)).not.toBeNull();
    expect(other.find(id)).toBeNull();
  });

  it("is the other one's within 6 s when it closes", async () => {
    const { clock, sent, one, other } = twoBackends();
    const { id } = await one.begin({ ...JOB });
    await clock.elapse(2000);
    await one.close();
    await clock.elapse(6000);
    expect(other.find(id)).not.toBeNull();
    expect(sent).toEqual(['one', 'other']);
  });

  it("is the next run's at once when that connects to its broker", async () => {
    const { clock, one, other } = twoBackends();
    const { id } = await one.begin({ ...JOB });
    await clock.elapse(2000);
    await one.close();
    other.claim();
    await clock.elapse(250);
    expect(other.find(id)).not.toBeNull();
  });

  it("is the other one's within 6 s when it closes while it signs a command", async () => {
    const { clock, signing, one, other } = twoBackends();
    const { id } = await one.begin({ ...JOB, devices: ['museum/a', 'museum/b'] });
    signing.takesMs = 1000;
    await clock.elapse(500);
    const closing = one.close();
    await clock.elapse(2000);
    await closing;
    await clock.elapse(6000);
    expect(other.find(id)).not.toBeNull();
  });

  it('is not taken back by a backend that ends and whose broker connects again', async () => {
    const { clock, rows, one, other } = twoBackends();
    const { id } = await one.begin({ ...JOB });
    await clock.elapse(2000);
    await one.close();
    one.claim();
    await clock.elapse(6000);
    expect(rows.size).toBe(1);
    expect(other.find(id)).not.toBeNull();
  });

  it('gets no result from a backend that has ended, and whose commands the broker did not take', async () => {
    const { clock, messages, ended, broker, one, other } = twoBackends();
    broker.takes = false;
    const { id } = await one.begin({ ...JOB });
    await clock.elapse(250);
    await one.close();
    messages[0]?.options.ended?.(false);
    expect(ended).toEqual([]);
    await clock.elapse(6000);
    other.hearAnswer('museum/a', answerOf(id, 'ok'));
    expect(ended).toMatchObject([{ id, counts: { ok: 1 } }]);
  });

  it("is the other one's after its lease when it is killed, and is not taken back", async () => {
    const { clock, rows, one, other } = twoBackends();
    const { id } = await one.begin({ ...JOB });
    await clock.elapse(2000);
    // It still runs, but its claim was lost: as after a long sleep.
    for (const row of rows.values()) Object.assign(row, { instance: 'gone', until: clock.now() + 15_000 });
    await clock.elapse(14_000);
    expect(other.find(id)).toBeNull();
    expect(one.find(id)).toBeNull();
    await clock.elapse(8000);
    const holders = [one, other].filter((jobs) => jobs.find(id) !== null);
    expect(holders).toHaveLength(1);
    await clock.elapse(60_000);
    expect([one, other].filter((jobs) => jobs.find(id) !== null)).toEqual(holders);
  });
});

const many = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `museum/${String(index).padStart(3, '0')}`);
const answerOf = (id: string, status: string, more: object = {}): string =>
  JSON.stringify({ ts: null, id, status, ...more });

describe('the commands of a job', () => {
  it('are at most 150 on their way, and go on as the broker takes them', async () => {
    const { clock, messages, ended, broker, one } = twoBackends();
    broker.takes = false;
    const { id } = await one.begin({ ...JOB, devices: many(400) });
    await clock.elapse(250);
    expect(messages).toHaveLength(150);
    await clock.elapse(1000);
    expect(messages).toHaveLength(150);
    for (const { options } of messages.slice(0, 10)) options.ended?.(true);
    await clock.elapse(250);
    expect(messages).toHaveLength(160);
    broker.takes = true;
    for (const { options } of messages.slice(10)) options.ended?.(true);
    await clock.elapse(750);
    expect(messages.map(({ topic }) => topic)).toEqual(
      many(400).map((name) => `dragoman/v1/${name}/cmd/mute`),
    );
    for (const name of many(400)) one.hearAnswer(name, answerOf(id, 'ok'));
    expect(ended).toMatchObject([{ id, counts: { ok: 400 } }]);
  });

  it('have QoS 1 and end at the broker with their time, and wait for it while it is away', async () => {
    const { clock, messages, broker, one } = twoBackends();
    broker.connected = false;
    await one.begin({ ...JOB, validMs: 60_000 });
    await clock.elapse(10_000);
    expect(messages).toEqual([]);
    broker.connected = true;
    await clock.elapse(250);
    // A minute, one more for clocks, and a second; 10.25 s of them have passed.
    expect(messages.map(({ options }) => [options.qos, options.retain ?? false, options.properties])).toEqual(
      [[1, false, { expiryS: 111 }]],
    );
    expect(messages[0]?.body['not_after']).toBe('2026-01-15T09:02:01.000Z');
  });

  it('are refused for devices whose command the broker does not take', async () => {
    const { clock, messages, ended, broker, one } = twoBackends();
    broker.takes = false;
    await one.begin({ ...JOB });
    await clock.elapse(250);
    messages[0]?.options.ended?.(false);
    expect(ended).toMatchObject([{ counts: { error: 1 }, first: { code: 'not_sent' } }]);
    // It made room on the way.
    await one.begin({ ...JOB, devices: many(200) });
    await clock.elapse(250);
    expect(messages).toHaveLength(151);
  });

  it('that shall be spoken go to connected devices alone, and no broker keeps them', async () => {
    const { clock, messages, ended, broker, one } = twoBackends();
    broker.away.add('museum/b');
    const { id } = await one.begin({ ...JOB, command: 'say', devices: ['museum/a', 'museum/b'] });
    await clock.elapse(60_000);
    expect(messages.map(({ topic, options }) => [topic, options.qos])).toEqual([
      ['dragoman/v1/museum/a/cmd/say', 0],
    ]);
    one.hearAnswer('museum/a', answerOf(id, 'ok'));
    expect(ended).toMatchObject([{ counts: { ok: 1, error: 1 } }]);
  });

  it('are not sent any more when it is stopped', async () => {
    const { clock, messages, ended, broker, one } = twoBackends();
    broker.takes = false;
    const job = await one.begin({ ...JOB, devices: many(151) });
    await clock.elapse(250);
    one.stop(job);
    for (const { options } of messages) options.ended?.(true);
    await clock.elapse(10_000);
    expect(messages).toHaveLength(150);
    for (const name of many(150)) one.hearAnswer(name, answerOf(job.id, 'ok'));
    expect(ended).toMatchObject([{ counts: { ok: 150, stopped: 1 } }]);
  });

  it.each(['mute', 'say'])('%s: none is sent whose signature is ready after the stop', async (command) => {
    const { clock, messages, ended, signing, one } = twoBackends();
    signing.takesMs = 100;
    const job = await one.begin({ ...JOB, command, devices: many(5) });
    // The first one is sent at 350 ms, and the second one is being signed.
    await clock.elapse(400);
    one.stop(job);
    await clock.elapse(10_000);
    expect(messages).toHaveLength(1);
    one.hearAnswer('museum/000', answerOf(job.id, 'ok'));
    expect(ended).toMatchObject([{ counts: { ok: 1, stopped: 4 } }]);
  });

  it('are refused, and no device is silent, when they cannot be signed', async () => {
    const { clock, messages, ended, signing, one } = twoBackends();
    signing.fails = true;
    await one.begin({ ...JOB, devices: many(2) });
    await clock.elapse(250);
    expect(messages).toEqual([]);
    const first = { code: 'not_sent', message: 'the backend could not sign it: the key is unusable' };
    expect(ended).toMatchObject([{ counts: { error: 2 }, first }]);
    // The next job is sent.
    signing.fails = false;
    await one.begin({ ...JOB });
    await clock.elapse(250);
    expect(messages).toHaveLength(1);
  });

  it('go again to those without a final answer after a restart, and to no other', async () => {
    const { clock, messages, ended, one, other } = twoBackends();
    const devices = ['museum/a', 'museum/b', 'museum/c'];
    const { id } = await one.begin({ ...JOB, devices });
    await clock.elapse(250);
    one.hearAnswer('museum/a', answerOf(id, 'ok'));
    one.hearAnswer('museum/b', answerOf(id, 'accepted'));
    await one.close();
    messages.length = 0;
    await clock.elapse(6000);
    expect(messages.map(({ topic }) => topic)).toEqual([
      'dragoman/v1/museum/b/cmd/mute',
      'dragoman/v1/museum/c/cmd/mute',
    ]);
    for (const name of ['museum/b', 'museum/c']) other.hearAnswer(name, answerOf(id, 'ok'));
    expect(ended).toMatchObject([{ id, counts: { ok: 3 } }]);
  });
});

describe('an answer', () => {
  it('counts up to 131,072 characters, of a device that the job is for', async () => {
    const { clock, one } = twoBackends();
    const { id } = await one.begin({ ...JOB });
    await clock.elapse(250);
    const long = (length: number): string => {
      const bare = answerOf(id, 'ok', { data: '' }).length;
      return answerOf(id, 'ok', { data: 'so '.repeat(50_000).slice(0, length - bare) });
    };
    const counts = () => one.recent()[0]?.counts;
    one.hearAnswer('museum/a', long(131_073));
    one.hearAnswer('museum/b', long(131_072));
    one.hearAnswer('museum/a', answerOf('another-job', 'ok'));
    expect(counts()).toMatchObject({ sent: 1, ok: 0 });
    one.hearAnswer('museum/a', long(131_072));
    expect(counts()).toMatchObject({ sent: 0, ok: 1 });
  });
});

describe('jobs that have ended', () => {
  it('are shown newest first: the last fifty, for an hour', async () => {
    const { clock, one } = twoBackends();
    const ids: string[] = [];
    for (let count = 0; count < 60; count += 1) {
      ids.push((await one.begin({ ...JOB, devices: [] })).id);
      await clock.elapse(2000);
    }
    expect(one.recent().map(({ id }) => id)).toEqual(ids.slice(10).reverse());
    // The last one is 2 s old, and the one before it 4 s.
    clock.stall(3_596_750);
    await clock.elapse(250);
    expect(one.recent().map(({ id }) => id)).toEqual(ids.slice(-1));
    await clock.elapse(2000);
    expect(one.recent()).toEqual([]);
  });
});
