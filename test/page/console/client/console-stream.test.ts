import { afterEach, describe, expect, it, vi } from 'vitest';
import type { DeviceEvent } from '../../../../src/protocol/console-device.ts';
import type { FleetRow } from '../../../../src/protocol/console-fleet.ts';
import type { Job } from '../../../../src/protocol/console-jobs.ts';
import type { StreamDiff, StreamSnapshot } from '../../../../src/protocol/console-stream.ts';
import { detailFor, rowFor } from '../../../console/fleet-fixtures.ts';

/** The browser's side of a stream; the test is the backend. */
class FakeSource {
  static readonly CLOSED = 2;
  static all: FakeSource[] = [];
  readyState = 1;
  readonly url: string;
  private readonly listeners = new Map<string, (event: { data: string }) => void>();

  constructor(url: string) {
    this.url = url;
    FakeSource.all.push(this);
  }
  addEventListener(name: string, listener: (event: { data: string }) => void): void {
    this.listeners.set(name, listener);
  }
  close(): void {
    this.readyState = FakeSource.CLOSED;
  }
  say(event: string, data: object = {}): void {
    this.listeners.get(event)?.({ data: JSON.stringify(data) });
  }
}

const open = (): FakeSource[] => FakeSource.all.filter(({ readyState }) => readyState === 1);
const SOURCE_TIMERS = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] as const;

const windowOf = (rows: readonly FleetRow[], first = 0) => ({ number: 0, total: rows.length, first, rows });
const snapshotOf = (more: Partial<StreamSnapshot> = {}): StreamSnapshot => ({
  seq: 0,
  stream: 'stream-1',
  broker: 'connected',
  counts: { total: 3, problems: 0, byStatus: {} as never },
  calls: [],
  facets: { tenants: [], sites: [], versions: [], groups: [] },
  window: windowOf([rowFor(1), rowFor(2), rowFor(3)]),
  device: null,
  jobs: [],
  ...more,
});
const job = (id: string, at: string, more: object = {}): Job => ({ id, at, ...more }) as unknown as Job;

/** The page's stream in a browser that the test moves. */
async function openPage(locks?: {
  request(name: string, options: object, take: (lock: unknown) => unknown): unknown;
}) {
  FakeSource.all = [];
  const asked: { path: string; body: Record<string, unknown> | null }[] = [];
  const answers = new Map<string, object>([['/api/stream/view', {}]]);
  const seen = { hidden: false, listeners: new Set<() => void>() };
  vi.stubGlobal('EventSource', FakeSource);
  vi.stubGlobal('window', globalThis);
  vi.stubGlobal('navigator', { languages: ['en'], locks });
  vi.stubGlobal('document', {
    get hidden() {
      return seen.hidden;
    },
    addEventListener: (_name: string, listener: () => void) => seen.listeners.add(listener),
    removeEventListener: (_name: string, listener: () => void) => seen.listeners.delete(listener),
  });
  vi.stubGlobal('fetch', async (path: string, init: RequestInit = {}) => {
    asked.push({ path, body: init.body === undefined ? null : JSON.parse(String(init.body)) });
    const answer = answers.get(path.replace(/\?.*/, ''));
    if (answer === undefined) throw new Error('no answer');
    return new Response(JSON.stringify(answer));
  });
  vi.resetModules();
  const [page, api] = await Promise.all([
    import('../../../../src/page/console/client/stream.ts'),
    import('../../../../src/page/console/client/api.ts'),
  ]);
  api.me.value = { name: 'anna', role: 'operator', expiresAt: '' };
  vi.useFakeTimers({ toFake: [...SOURCE_TIMERS] });
  const stop = page.beginStream();
  await settle();
  const source = (): FakeSource => {
    const last = FakeSource.all.at(-1);
    if (last === undefined) throw new Error('there is no stream');
    return last;
  };
  let seq = 0;
  return {
    page,
    api,
    asked,
    answers,
    seen,
    stop,
    source,
    begin(more: Partial<StreamSnapshot> = {}) {
      seq = 0;
      source().say('snapshot', snapshotOf(more));
    },
    diff(more: Omit<StreamDiff, 'seq'>) {
      seq += 1;
      source().say('diff', { seq, ...more });
    },
    async pass(ms: number) {
      await vi.advanceTimersByTimeAsync(ms);
      await settle();
    },
    show(isHidden: boolean) {
      seen.hidden = isHidden;
      for (const listener of seen.listeners) listener();
    },
  };
}

/** Answers of `fetch` arrive. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('the stream of the console', () => {
  it('is opened again when a difference is missing, which is not taken', async () => {
    const { page, source, begin, diff } = await openPage();
    begin();
    diff({ counts: { total: 3, problems: 1, byStatus: {} as never } });
    source().say('diff', { seq: 3, counts: { total: 3, problems: 9, byStatus: {} } });
    expect(page.counts.value?.problems).toBe(1);
    expect([FakeSource.all.length, open().length]).toEqual([2, 1]);
  });

  it('is opened again after 25 s without a sign of life, and not before', async () => {
    const { begin, source, pass } = await openPage();
    begin();
    await pass(20_000);
    source().say('ping');
    await pass(24_000);
    expect(FakeSource.all).toHaveLength(1);
    await pass(3000);
    expect([FakeSource.all.length, open().length]).toEqual([2, 1]);
  });

  it('is gone after an error, and is tried again within 1.5 s', async () => {
    const { page, begin, source, pass } = await openPage();
    begin();
    expect(page.connection.value).toBe('live');
    source().say('error');
    expect([page.connection.value, open().length]).toEqual(['gone', 0]);
    await pass(1500);
    expect(open()).toHaveLength(1);
  });

  it('gives its connection back when the page was hidden for 5 s, and takes it again at once', async () => {
    const { begin, show, pass } = await openPage();
    begin();
    show(true);
    await pass(4999);
    expect(open()).toHaveLength(1);
    show(false);
    await pass(5000);
    expect([FakeSource.all.length, open().length]).toEqual([1, 1]);
    show(true);
    await pass(5000);
    expect(open()).toEqual([]);
    await pass(60_000);
    expect(open()).toEqual([]);
    show(false);
    await pass(0);
    expect(open()).toHaveLength(1);
  });

  it('leaves neither a connection nor a timer nor a listener', async () => {
    const { begin, seen, show, stop } = await openPage();
    begin();
    show(true);
    stop();
    expect([open().length, seen.listeners.size, vi.getTimerCount()]).toEqual([0, 0, 0]);
  });

  it('asks to sign in when the session has ended', async () => {
    const { api, begin, source } = await openPage();
    begin();
    source().say('end', { code: 'signed_out' });
    expect([api.isSessionOver.value, open().length]).toEqual([true, 0]);
  });

  it('is replaced by a snapshot each 5 s when nothing comes for 10 s', async () => {
    const { page, asked, answers, pass } = await openPage();
    answers.set('/api/snapshot', snapshotOf({ stream: '' }));
    await pass(9000);
    expect([page.connection.value, asked.length]).toEqual(['connecting', 0]);
    await pass(3000);
    expect([page.connection.value, asked.length, page.total.value]).toEqual(['asking', 1, 3]);
    expect(open()).toEqual([]);
    await pass(6000);
    expect(asked).toHaveLength(2);
    answers.delete('/api/snapshot');
    await pass(6000);
    expect(page.connection.value).toBe('gone');
  });

  it('is left to other windows of the browser when they hold four', async () => {
    const held = new Set([
      'dragoman-stream-1',
      'dragoman-stream-2',
      'dragoman-stream-3',
      'dragoman-stream-4',
    ]);
    const locks = {
      async request(name: string, _options: object, take: (lock: unknown) => unknown) {
        if (held.has(name)) return take(null);
        held.add(name);
        await take({});
        return void held.delete(name);
      },
    };
    const { page, answers, asked, pass, stop } = await openPage(locks);
    answers.set('/api/snapshot', snapshotOf({ stream: '' }));
    await settle();
    expect([open().length, asked.length]).toEqual([0, 1]);
    held.delete('dragoman-stream-3');
    await pass(6500);
    expect([open().length, held.size]).toEqual([1, 4]);
    expect(page.connection.value).toBe('gone');
    stop();
    await settle();
    expect(held.size).toBe(3);
  });
});

describe('what the stream tells', () => {
  it('keeps the newest 200 events, each once', async () => {
    const event = (number: number) => ({ number }) as DeviceEvent;
    const { page, begin, diff } = await openPage();
    begin({ device: detailFor(rowFor(1), { events: [event(1), event(2)] }) });
    diff({ events: [event(2), event(3)] });
    const numbers = () => page.device.value?.events.map(({ number }) => number) ?? [];
    expect(numbers()).toEqual([1, 2, 3]);
    diff({ events: Array.from({ length: 199 }, (_, at) => event(4 + at)) });
    expect([numbers().length, numbers()[0], numbers().at(-1)]).toEqual([200, 3, 202]);
  });

  it('keeps the newest 2000 lines of the log, and counts those that were dropped', async () => {
    const { page, begin, diff } = await openPage();
    begin({ device: detailFor(rowFor(1)) });
    diff({ log: { lines: ['first', ...Array.from({ length: 1999 }, () => 'x')], dropped: 2 } });
    expect(page.log.value.lines[0]).toBe('first');
    diff({ log: { lines: ['last'], dropped: 3 } });
    expect([page.log.value.lines.length, page.log.value.dropped]).toEqual([2000, 5]);
    expect([page.log.value.lines[0], page.log.value.lines.at(-1)]).toEqual(['x', 'last']);
  });

  it('has the newest job first, and each as it is now', async () => {
    const { page, begin, diff } = await openPage();
    begin({ jobs: [job('b', '2026-11-27T09:00:00Z'), job('a', '2026-11-27T08:00:00Z')] });
    diff({ jobs: [job('c', '2026-11-27T10:00:00Z'), job('a', '2026-11-27T08:00:00Z', { who: 'anna' })] });
    expect(page.jobs.value.map(({ id }) => id)).toEqual(['c', 'b', 'a']);
    expect(page.jobs.value.at(-1)?.who).toBe('anna');
  });

  it('changes parts of the followed device, and takes a new one only whole', async () => {
    const { page, begin, diff } = await openPage();
    const detail = detailFor(rowFor(1));
    begin({ device: detail });
    diff({ device: { heardAt: 'later' } });
    expect(page.device.value).toEqual({ ...detail, heardAt: 'later' });
    diff({ device: null });
    diff({ device: { heardAt: 'later' } });
    expect(page.device.value).toBeNull();
    diff({ device: detail });
    expect(page.device.value).toEqual(detail);
  });

  it('keeps only the rows of the window', async () => {
    const { page, begin, diff } = await openPage();
    begin();
    expect(page.rowOf('museum/kiosk-00003')).toEqual(rowFor(3));
    diff({ rows: [rowFor(2, { site: 'new' })], order: ['museum/kiosk-00002'], total: 1 });
    expect(page.order.value).toEqual({ first: 0, devices: ['museum/kiosk-00002'] });
    expect(page.rowOf('museum/kiosk-00002')?.site).toBe('new');
    expect([page.rowOf('museum/kiosk-00003'), page.total.value]).toEqual([undefined, 1]);
    diff({ window: windowOf([rowFor(9)], 100) });
    expect(page.order.value).toEqual({ first: 100, devices: ['museum/kiosk-00009'] });
    expect(page.rowOf('museum/kiosk-00002')).toBeUndefined();
  });

  it('moves no row under the pointer for 3 s, and then takes the newest order', async () => {
    const { page, begin, diff, pass } = await openPage();
    begin();
    page.holdOrder();
    await pass(2900);
    const [one, two, three] = page.order.value.devices as [string, string, string];
    diff({ order: [three, two, one] });
    diff({ order: [two, one, three] });
    expect(page.order.value.devices).toEqual([one, two, three]);
    await pass(1700);
    expect(page.order.value.devices).toEqual([two, one, three]);
    page.holdOrder();
    diff({ order: [one, two, three] });
    page.release();
    expect(page.order.value.devices).toEqual([one, two, three]);
    diff({ order: [three, two, one] });
    expect(page.order.value.devices).toEqual([three, two, one]);
  });
});

describe('the view of the stream', () => {
  it('is told with the device that is followed, each change with its number', async () => {
    const { page, asked, begin } = await openPage();
    begin();
    page.showView({ sort: 'device' });
    page.followDevice('museum/kiosk-00001');
    page.followDevice('museum/kiosk-00001');
    await settle();
    expect(asked.map(({ body }) => body)).toEqual([
      { stream: 'stream-1', number: 1, view: { sort: 'device' }, device: null },
      { stream: 'stream-1', number: 2, view: { sort: 'device' }, device: 'museum/kiosk-00001' },
    ]);
  });

  it('of a page that has gone on before the first snapshot is told after it', async () => {
    const { page, asked, begin } = await openPage();
    page.showView({ sort: 'since' });
    expect(asked).toEqual([]);
    begin();
    await settle();
    expect(asked.map(({ body }) => body)).toMatchObject([{ number: 1, view: { sort: 'since' } }]);
  });

  it('has nothing of the device that was followed before', async () => {
    const { page, begin, diff } = await openPage();
    begin({ device: detailFor(rowFor(1)) });
    diff({ log: { lines: ['of the first device'], dropped: 1 } });
    page.followDevice('museum/kiosk-00002');
    expect(page.device.value).toBeNull();
    expect(page.log.value).toEqual({ lines: [], dropped: 0 });
  });
});
