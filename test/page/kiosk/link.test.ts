/** The kiosk's page and its agent: what is kept, what is forgotten, and when the page connects again. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ScreenChange, ScreenSnapshot, ScreenText } from '../../../src/protocol/screen.ts';
import { SNAPSHOT } from '../../adapters/screen/fake-source.ts';

/** The browser's side of a connection; the test is the agent. */
class FakeSource {
  static readonly CLOSED = 2;
  static all: FakeSource[] = [];
  readyState = 1;
  private readonly listeners = new Map<string, (event: { data: string }) => void>();

  constructor(_url: string) {
    FakeSource.all.push(this);
  }
  addEventListener(name: string, listener: (event: { data: string }) => void): void {
    this.listeners.set(name, listener);
  }
  close(): void {
    this.readyState = FakeSource.CLOSED;
  }
  say(event: 'snapshot' | 'change' | 'ping' | 'error', data: object = {}): void {
    this.listeners.get(event)?.({ data: JSON.stringify(data) });
  }
}

const textOf = (number: number): ScreenText => ({
  language: 'en',
  text: `text ${number}`,
  breaks: false,
  isSpoken: true,
  number,
});

async function openPage(snapshot: Partial<ScreenSnapshot> = {}) {
  FakeSource.all = [];
  vi.resetModules();
  const [link, store] = await Promise.all([
    import('../../../src/page/kiosk/link.ts'),
    import('../../../src/page/kiosk/store.ts'),
  ]);
  /** Numbers of the texts on the glass. */
  let glass: number[] = [];
  store.onTexts((texts, how) => {
    glass = [...(how === 'begin' ? [] : glass), ...texts.map(({ number }) => number)];
  });
  link.connect();
  const source = (): FakeSource => FakeSource.all.at(-1) as FakeSource;
  const begin = (more: Partial<ScreenSnapshot> = {}): void =>
    source().say('snapshot', { ...SNAPSHOT, ...snapshot, ...more });
  begin();
  return {
    store,
    source,
    begin,
    glass: () => glass,
    change: (change: Omit<ScreenChange, 'seq'>): void => source().say('change', { seq: 1, ...change }),
    kept: () => store.screen.value?.texts.map(({ number }) => number),
  };
}

beforeEach(() => {
  vi.stubGlobal('EventSource', FakeSource);
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('texts', () => {
  it('come on the glass once, also when the page connects again in the same conversation', async () => {
    const { begin, change, glass, kept } = await openPage({ texts: [textOf(1)] });
    change({ texts: [textOf(2)] });
    change({ texts: [textOf(2), textOf(3)] });
    begin({ texts: [1, 2, 3, 4].map(textOf) });
    change({ texts: [textOf(5)] });
    expect(glass()).toEqual([1, 2, 3, 4, 5]);
    expect(kept()).toEqual([1, 2, 3, 4, 5]);
  });

  it.each([
    ['the next conversation', { conversation: 2 }],
    ['another run of the agent', { run: 'run-2' }],
  ])('begin anew when the page connects again in %s', async (_what, more) => {
    const { begin, glass } = await openPage({ texts: [textOf(1), textOf(2)] });
    begin({ ...more, texts: [textOf(1)] });
    expect(glass()).toEqual([1]);
  });

  it('are gone with their conversation, and the page is as it was before the first', async () => {
    const { store, change, glass, kept } = await openPage({ texts: [textOf(1)] });
    expect(store.isEmpty.value).toBe(false);
    change({ conversation: 2 });
    expect([glass(), kept(), store.isEmpty.value]).toEqual([[], [], true]);
    change({ texts: [textOf(2)] });
    expect([glass(), kept(), store.isEmpty.value]).toEqual([[2], [2], false]);
  });

  it('are kept for a panel that is shown later: the latest 2000', async () => {
    const { change, kept } = await openPage();
    change({ texts: Array.from({ length: 2001 }, (_, index) => textOf(index + 1)) });
    expect([kept()?.length, kept()?.[0]]).toEqual([2000, 2]);
  });
});

describe('the connection', () => {
  it('is lost after 4 s without a message, and tried again', async () => {
    const { store, source } = await openPage();
    for (let seconds = 0; seconds < 20; seconds++) {
      vi.advanceTimersByTime(1000);
      source().say('ping');
    }
    vi.advanceTimersByTime(4000);
    expect([store.isConnected.value, FakeSource.all.length]).toEqual([true, 1]);
    vi.advanceTimersByTime(500);
    expect([store.isConnected.value, FakeSource.all.length]).toEqual([false, 2]);
    expect(FakeSource.all[0]?.readyState).toBe(FakeSource.CLOSED);
    source().say('ping');
    expect(store.isConnected.value).toBe(true);
  });

  it('is tried again 1.5 s after the browser has given it up', async () => {
    const { store, source } = await openPage();
    source().say('error');
    source().close();
    expect(store.isConnected.value).toBe(false);
    vi.advanceTimersByTime(1499);
    expect(FakeSource.all).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(FakeSource.all).toHaveLength(2);
  });
});

it('the end of a conversation comes when the agent has said, whatever the clocks of both', async () => {
  const { store, begin, change } = await openPage();
  expect(store.endsAt.value).toBeNull();
  const now = performance.now();
  change({ endsInMs: 19_500 });
  change({ level: 3 });
  expect(store.endsAt.value).toBe(now + 19_500);
  change({ endsInMs: null });
  expect(store.endsAt.value).toBeNull();
  begin({ endsInMs: 500 });
  expect(store.endsAt.value).toBe(now + 500);
});
