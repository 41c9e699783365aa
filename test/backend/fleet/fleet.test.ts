/** What the console shows of the fleet, and how it follows it. */
import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { MOST_UNREAD_BYTES } from '../../../src/backend/console/event-stream.ts';
import { MOST_STREAMS_EACH } from '../../../src/backend/console/streams.ts';
import { createFleet } from '../../../src/backend/fleet/fleet.ts';
import { startBroker } from '../../../src/cli/demo/broker.ts';
import { type ConsoleFixture, consoleOfEachTest } from '../console/console-on-loopback.ts';
import { createJumpingClock } from '../watch/jumping-clock.ts';

const { start } = consoleOfEachTest();
const state = (volume: number, more: object = {}) => ({
  ts: '2026-11-27T10:00:00.000Z',
  boot_id: 'b',
  groups: ['lobby'],
  lanes: [{ id: 'main', phase: 'live', source: 'en', targets: ['es'], volume, ...more }],
});
const rows = (fixture: ConsoleFixture, view: object) =>
  fixture.ask('vic', 'GET', `/api/devices?view=${encodeURIComponent(JSON.stringify(view))}`);
const names = (found: { json: { rows: { device: string }[] } }) =>
  found.json.rows.map(({ device }) => device);

/** A stream whose reader takes the snapshot, and then nothing more. */
function openStalled(fixture: ConsoleFixture, who: string): Promise<{ stream: string; close: () => void }> {
  const { port } = new URL(fixture.url);
  const path = `/api/stream?view=${encodeURIComponent(JSON.stringify({ first: 0, last: 300 }))}`;
  return new Promise((resolve) => {
    const opened = request({ port, path, headers: { cookie: fixture.cookieOf(who) } }, (response) => {
      let text = '';
      response.on('error', () => {});
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString('utf8');
        const [, stream] = /"stream":"([^"]+)"/.exec(text) ?? [];
        if (stream === undefined) return;
        response.pause();
        resolve({ stream, close: () => opened.destroy() });
      });
    });
    opened.on('error', () => {});
    opened.end();
  });
}

describe('calls for staff', () => {
  const open = { state: 'called', since: '2026-11-27T10:00:00.000Z', by: null };
  const named = (calls: readonly { device: string }[] = []) => calls.map(({ device }) => device);

  it('are on every page whatever its view, longest first, until they are answered', async () => {
    const fixture = await start(
      { config: { groups: [{ name: 'halls', site: 'Old wing', members: ['museum/*'] }] } },
      ['vic', 'otto'],
    );
    const streams = [
      await fixture.stream('vic', { filter: { q: 'no such device' } }),
      await fixture.stream('otto'),
    ];
    const call = (device: string, help: unknown): void =>
      fixture.say(device, 'state', { ...state(40), help });
    fixture.status('museum/a');
    call('museum/a', { ...open, since: '2026-11-27T10:05:00.000Z' });
    fixture.status('museum/b');
    call('museum/b', { ...open, state: 'unanswered' });
    // Away: no one can answer there.
    fixture.status('museum/c', 'lost');
    call('museum/c', open);
    for (const stream of streams)
      await expect
        .poll(() => stream.diffs.findLast(({ calls }) => calls !== undefined)?.calls)
        .toEqual([
          { device: 'museum/b', site: 'Old wing', since: open.since, isLate: true },
          { device: 'museum/a', site: 'Old wing', since: '2026-11-27T10:05:00.000Z', isLate: false },
        ]);
    call('museum/b', { ...open, state: 'answered', by: 'Ann' });
    call('museum/d', 'no call');
    fixture.status('museum/d');
    for (const stream of streams)
      await expect
        .poll(() => named(stream.diffs.findLast(({ calls }) => calls !== undefined)?.calls))
        .toEqual(['museum/a']);
    const later = await fixture.ask('vic', 'GET', '/api/snapshot');
    expect(named(later.json.calls)).toEqual(['museum/a']);
  });

  it('are one for a device and 50 in all, however many a login sends', async () => {
    const fleet = createFleet({ allow: [], groups: [], devices: {} }, createJumpingClock());
    const hear = (name: string, kind: 'status' | 'state', body: object): void =>
      fleet.hear({ kind, name, payload: JSON.stringify(body), isRetained: false });
    for (let flood = 0; flood < 2000; flood++) {
      hear('museum/a', 'status', { status: 'ready' });
      hear('museum/a', 'state', { lanes: [], help: { ...open, since: `x${flood}`.repeat(30) } });
    }
    fleet.settle();
    expect(fleet.calls()).toEqual([{ device: 'museum/a', site: null, since: null, isLate: false }]);
    for (let device = 0; device < 70; device++) {
      hear(`museum/k${device}`, 'status', { status: 'ready' });
      hear(`museum/k${device}`, 'state', { lanes: [], help: open });
    }
    fleet.settle();
    expect(fleet.calls()).toHaveLength(50);
  });
});

describe('the fleet', () => {
  it('shows problems first, and counts, filters, sorts and cuts on the server', async () => {
    const fixture = await start(
      {
        config: {
          groups: [{ name: 'halls', site: 'Old wing', members: ['museum/hall-*'] }],
          devices: { 'museum/new': {} },
        },
      },
      ['vic'],
    );
    const stream = await fixture.stream('vic');
    fixture.status('museum/desk', 'ready');
    fixture.status('museum/hall-2', 'degraded', { reasons: ['capture:lost'] });
    fixture.status('museum/hall-1', 'lost', { reasons: ['connection_lost'] });
    fixture.say('museum/desk', 'state', state(40));
    await expect
      .poll(() => stream.diffs.at(-1)?.counts?.byStatus)
      .toMatchObject({ lost: 1, degraded: 1, never: 1 });
    const order = stream.diffs.findLast((diff) => diff.order !== undefined)?.order;
    expect(order).toEqual(['museum/hall-1', 'museum/hall-2', 'museum/new', 'museum/desk']);
    expect(names(await rows(fixture, { filter: { q: 'ES lobby' } }))).toEqual(['museum/desk']);
    expect(
      names(await rows(fixture, { filter: { problem: true }, sort: 'device', descending: true })),
    ).toEqual(['museum/hall-2', 'museum/hall-1']);
    expect((await rows(fixture, { filter: { site: 'Old wing' }, first: 1, last: 2 })).json).toMatchObject({
      total: 2,
      first: 1,
      rows: [{ device: 'museum/hall-2', reasons: ['capture:lost'], isProblem: true }],
    });
    // A device whose messages were deleted is gone.
    fixture.say('museum/desk', 'status', '');
    fixture.say('museum/desk', 'state', '');
    await expect.poll(() => stream.diffs.at(-1)?.counts?.total).toBe(3);
    const all = stream.diffs.map(({ seq }) => seq);
    expect(all).toEqual(all.map((_, index) => index + 2));
  });

  it('joins the changes of 250 ms, and sends none of rows outside the window', async () => {
    const fixture = await start({}, ['vic']);
    const count = 40;
    for (let index = 0; index < count; index += 1)
      fixture.status(`museum/k-${String(index).padStart(2, '0')}`);
    const stream = await fixture.stream('vic', { sort: 'device', first: 0, last: 5 });
    await expect
      .poll(
        () => stream.diffs.findLast(({ counts }) => counts)?.counts?.total ?? stream.snapshot?.counts.total,
      )
      .toBe(count);
    const before = stream.diffs.length;
    const begun = performance.now();
    for (let round = 0; round < 50; round += 1)
      for (const name of ['k-01', 'k-30']) fixture.say(`museum/${name}`, 'state', state(round));
    await expect
      .poll(() => stream.diffs.findLast((diff) => diff.rows)?.rows?.at(-1)?.lanes[0]?.volume)
      .toBe(49);
    const passed = performance.now() - begun;
    expect(stream.diffs.length - before).toBeLessThanOrEqual(Math.ceil(passed / 250) + 1);
    const changed = stream.diffs.slice(before).flatMap((diff) => diff.rows ?? []);
    expect(new Set(changed.map(({ device }) => device))).toEqual(new Set(['museum/k-01']));
  });

  it('brings a new window on the stream, follows a device, and forgets a change that was overtaken', async () => {
    const fixture = await start({}, ['vic', 'otto']);
    for (const name of ['a', 'b', 'c']) fixture.status(`museum/${name}`);
    await expect.poll(async () => (await rows(fixture, {})).json.total).toBe(3);
    const stream = await fixture.stream('vic');
    const change = (number: number, first: number, device?: string) =>
      fixture.ask('vic', 'POST', '/api/stream/view', {
        stream: stream.snapshot?.stream,
        number,
        view: { sort: 'device', first, last: first + 1 },
        ...(device !== undefined && { device }),
      });
    expect((await change(2, 1, 'museum/b')).status).toBe(200);
    await change(1, 0);
    await expect
      .poll(() => stream.diffs.at(-1))
      .toMatchObject({
        window: { number: 2, first: 1, total: 3, rows: [{ device: 'museum/b' }] },
        device: { row: { device: 'museum/b' } },
      });
    fixture.say('museum/b', 'event/rollover', { ts: null, lane: 'main', session: 'abc' }, false);
    await expect
      .poll(() => stream.diffs.at(-1)?.events?.[0])
      .toMatchObject({ kind: 'rollover', lane: 'main' });
    // Only its own session may steer a stream.
    const other = await fixture.ask('otto', 'POST', '/api/stream/view', {
      stream: stream.snapshot?.stream,
      number: 9,
      view: {},
    });
    expect(other.status).toBe(404);
    // Log lines are for operators.
    const operator = await fixture.stream('otto', {}, 'museum/b');
    fixture.say('museum/b', 'log', { ts: null, lines: ['{"msg":"hello"}'], dropped: 2 }, false);
    await expect.poll(() => operator.diffs.at(-1)?.log).toEqual({ lines: ['{"msg":"hello"}'], dropped: 2 });
    expect(stream.diffs.some(({ log }) => log !== undefined)).toBe(false);
  });

  it('gives a page without a stream the same snapshot that a stream begins with', async () => {
    const fixture = await start({}, ['vic']);
    for (const name of ['a', 'b', 'c']) fixture.status(`museum/${name}`);
    await expect.poll(async () => (await rows(fixture, {})).json.total).toBe(3);
    const view = { sort: 'device', first: 1, last: 2 } as const;
    const query = new URLSearchParams({ view: JSON.stringify(view), device: 'museum/b' });
    const asked = await fixture.ask('vic', 'GET', `/api/snapshot?${query}`);
    const stream = await fixture.stream('vic', view, 'museum/b');
    expect(asked.json).toEqual({ ...stream.snapshot, seq: 0, stream: '' });
    expect(asked.json.window.rows).toMatchObject([{ device: 'museum/b' }]);
    expect(asked.json.device.row.device).toBe('museum/b');
    // It follows later changes, and leaves nothing behind that must be kept up to date.
    fixture.status('museum/b', 'degraded');
    await expect
      .poll(async () => (await fixture.ask('vic', 'GET', `/api/snapshot?${query}`)).json.counts.problems)
      .toBe(1);
    expect((await fixture.ask('vic', 'GET', '/api/snapshot?view=1')).status).toBe(400);
  });

  it('stays whole when devices send markup, reordering characters and 256 kB', async () => {
    const fixture = await start({}, ['vic']);
    const evil = '<img src=x onerror=alert(1)>\u202egnp.exe\u0000\u200b';
    const large = 'x'.repeat(256 * 1024 - 200);
    const stream = await fixture.stream('vic', {}, 'museum/evil');
    fixture.status('museum/evil', evil, { version: evil, reasons: [evil, large.slice(0, 50_000)] });
    fixture.say('museum/evil', 'state', { ...state(1), groups: [evil], lanes: [{ id: evil, source: 7 }, 5] });
    fixture.say('museum/evil', 'health', '{"lanes": 4, "rss_bytes": "many"}', false);
    for (let count = 0; count < 30; count += 1)
      fixture.say(
        'museum/evil',
        `event/${count % 2 === 0 ? 'odd' : 'even'}`,
        { message: evil, deep: [[1]], huge: 'y'.repeat(9000) },
        false,
      );
    await expect
      .poll(async () => (await fixture.ask('vic', 'GET', '/api/devices/museum/evil')).json?.events.length)
      .toBe(20);
    for (const topic of ['state', 'event/large', 'config/reported', 'log', 'cmd/mute/res', 'status'])
      fixture.say('museum/evil2', topic, large, false);
    fixture.say('museum/evil2', 'event/list', '['.repeat(100_000), false);
    fixture.status('museum/good');
    await expect.poll(() => stream.diffs.findLast(({ counts }) => counts)?.counts?.byStatus.ready).toBe(1);
    const { json, text } = await fixture.ask('vic', 'GET', '/api/devices/museum/evil');
    expect(json.row).toMatchObject({ status: 'unknown', version: '<img src=x onerror=alert(1)>?gnp.exe??' });
    for (const sign of ['\u202e', '\u0000', '\u200b']) expect(text).not.toContain(sign);
    expect(text.length).toBeLessThan(64_000);
    expect((await rows(fixture, {})).headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  it('drops a reader that stalls, and the browser begins again with one snapshot', async () => {
    const fixture = await start({}, ['vic', 'ann']);
    for (let index = 0; index < 200; index += 1) fixture.status(`museum/k-${index}`);
    await expect.poll(async () => (await rows(fixture, {})).json.total).toBe(200);
    const stalled = await openStalled(fixture, 'vic');
    const reader = await fixture.stream('ann', { first: 0, last: 300 });
    const isKnown = async (): Promise<boolean> => {
      const change = { stream: stalled.stream, number: 1, view: { first: 0, last: 300 } };
      return (await fixture.ask('vic', 'POST', '/api/stream/view', change)).status === 200;
    };
    for (let round = 0; await isKnown(); round += 1) {
      if (reader.bytes > 400 * MOST_UNREAD_BYTES) throw new Error('the stalled reader was not dropped');
      for (let index = 0; index < 200; index += 1) {
        const reasons = Array.from({ length: 30 }, () => `${round}-${'v'.repeat(150)}`);
        fixture.status(`museum/k-${index}`, 'ready', { reasons });
      }
      await new Promise((later) => setTimeout(later, 100));
    }
    stalled.close();
    expect(reader.isClosed).toBe(false);
    const again = await fixture.stream('vic', { first: 0, last: 300 });
    expect(again.snapshot?.window.rows).toHaveLength(200);
  });

  it('refuses one more page of a person who has many, and opens one for another', async () => {
    const fixture = await start({}, ['vic', 'ann']);
    for (let page = 0; page < MOST_STREAMS_EACH; page += 1) await fixture.stream('vic');
    const cookie = fixture.cookieOf('vic');
    const refused = await fetch(`${fixture.url}/api/stream?view=%7B%7D`, { headers: { cookie } });
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({ error: { code: 'too_many' } });
    expect((await fixture.stream('ann')).snapshot?.counts.total).toBe(0);
  });

  it('shows a device as lost that is silent for three minutes, whatever the broker has kept', async () => {
    const clock = createJumpingClock();
    const fixture = await start({ clock }, ['vic']);
    const rowOf = async (name: string) =>
      (await rows(fixture, {})).json.rows.find(
        ({ device }: { device: string }) => device === `museum/${name}`,
      );
    const [early, late] = ['2026-11-27T10:00:00.000Z', '2026-11-27T10:05:00.000Z'];
    for (const name of ['heard', 'dead', 'off']) fixture.status(`museum/${name}`);
    fixture.status('museum/off', 'offline');
    fixture.say('museum/dead', 'state', { ...state(40), ts: late });
    await expect.poll(async () => (await rowOf('dead'))?.version).toBe('1.0.0');
    await fixture.restart();
    // Of the restarted backend: these messages are retained.
    await expect.poll(async () => (await rowOf('dead'))?.lanes.length).toBe(1);
    expect(await rowOf('dead')).toMatchObject({ status: 'ready', since: early, isProblem: false });
    const detail = (await fixture.ask('vic', 'GET', '/api/devices/museum/dead')).json;
    expect(detail.heardAt).toBeNull();

    clock.jump(120_000);
    const heard = clock.wall() ?? 0;
    fixture.say('museum/heard', 'health', { ts: null, boot_id: 'b', lanes: [] }, false);
    const heardAt = async () => (await fixture.ask('vic', 'GET', '/api/devices/museum/heard')).json.heardAt;
    await expect.poll(heardAt).not.toBeNull();
    clock.jump(100_000);
    const lost = { status: 'lost', reasons: ['connection_lost'], isProblem: true };
    await expect.poll(() => rowOf('dead')).toMatchObject({ ...lost, since: late });
    expect(await rowOf('off')).toMatchObject({ status: 'offline' });
    expect(await rowOf('heard')).toMatchObject({ status: 'ready' });
    expect((await rows(fixture, { filter: { problem: true } })).json.total).toBe(1);
    // What somebody else publishes for it is not a sign of life.
    fixture.say('museum/dead', 'config/desired', { version: 1 });
    clock.jump(100_000);
    await expect.poll(() => rowOf('heard')).toMatchObject(lost);
    expect(Math.abs(Date.parse((await rowOf('heard')).since) - heard)).toBeLessThan(60_000);
    expect(await rowOf('dead')).toMatchObject(lost);
    fixture.say('museum/dead', 'health', { ts: null, boot_id: 'b', lanes: [] }, false);
    await expect.poll(() => rowOf('dead')).toMatchObject({ status: 'ready', reasons: [], since: early });
  });

  it('calls no device lost while the broker is away, and gives them three minutes from its return on', async () => {
    const clock = createJumpingClock();
    const broker = await startBroker();
    const fixture = await start({ broker, clock }, ['vic']);
    const stream = await fixture.stream('vic');
    fixture.status('museum/a');
    const statusOf = async () => (await rows(fixture, {})).json.rows[0]?.status;
    await expect.poll(statusOf).toBe('ready');
    broker.pause();
    await expect.poll(() => stream.diffs.at(-1)?.broker).toBe('away');
    clock.jump(600_000);
    expect(await statusOf()).toBe('ready');
    broker.resume();
    await expect
      .poll(() => {
        // The next attempt may be minutes away.
        clock.jump(1000);
        return stream.diffs.findLast((diff) => diff.broker)?.broker;
      })
      .toBe('connected');
    clock.jump(120_000);
    expect(await statusOf()).toBe('ready');
    clock.jump(80_000);
    await expect.poll(statusOf).toBe('lost');
    await broker.close();
  });

  it('shows for ten minutes that a device sends its log, when it was asked for as long', async () => {
    const fixture = await start({}, ['otto', 'vic']);
    fixture.status('museum/a');
    await expect.poll(async () => (await rows(fixture, {})).json.total).toBe(1);
    const detail = async () => (await fixture.ask('vic', 'GET', '/api/devices/museum/a')).json;
    expect((await detail()).logUntil).toBeNull();
    const before = Date.now();
    const asked = { minutes: 10, level: 'info' };
    const { json } = await fixture.ask('otto', 'POST', '/api/devices/museum/a/log', asked);
    expect(json.job).toMatchObject({ command: 'log_stream', args: asked, devices: 1 });
    const until = Date.parse((await detail()).logUntil) - 600_000;
    expect([until >= before - 1, until <= Date.now() + 1]).toEqual([true, true]);
  });

  it('keeps what it knows while the broker is away, and says so', async () => {
    const broker = await startBroker();
    const fixture = await start({ broker }, ['vic']);
    fixture.status('museum/a');
    const stream = await fixture.stream('vic');
    await expect
      .poll(
        () => stream.diffs.findLast(({ counts }) => counts)?.counts?.total ?? stream.snapshot?.counts.total,
      )
      .toBe(1);
    broker.pause();
    await expect.poll(() => stream.diffs.at(-1)?.broker).toBe('away');
    expect((await rows(fixture, {})).json.total).toBe(1);
    broker.resume();
    await expect.poll(() => stream.diffs.at(-1)?.broker, { timeout: 20_000 }).toBe('connected');
    await broker.close();
  });
});
