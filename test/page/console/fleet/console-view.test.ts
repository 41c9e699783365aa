import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { FLEET_STATUSES } from '../../../../src/protocol/console-fleet.ts';

/** An address bar. */
const bar = { pathname: '/', search: '', origin: 'http://console.example', steps: 0 };
const go = (address: string): void => {
  const { pathname, search } = new URL(address, 'http://console.example');
  Object.assign(bar, { pathname, search });
};
vi.stubGlobal('location', bar);
/** What the page listens for in the window. */
const listeners = new Map<string, (event: unknown) => void>();
vi.stubGlobal('addEventListener', (name: string, listener: (event: unknown) => void) =>
  listeners.set(name, listener),
);
class FakeLink {
  readonly origin: string;
  readonly target = '';
  readonly href: string;
  constructor(href: string) {
    this.href = href;
    this.origin = new URL(href, 'http://console.example').origin;
  }
  closest(): FakeLink {
    return this;
  }
  hasAttribute(): boolean {
    return false;
  }
  getAttribute(): string {
    return this.href;
  }
}
vi.stubGlobal('Element', FakeLink);
vi.stubGlobal('history', {
  pushState(_state: unknown, _title: string, address: string) {
    bar.steps += 1;
    go(address);
  },
  replaceState: (_state: unknown, _title: string, address: string) => go(address),
});

const view = await import('../../../../src/page/console/fleet/view.ts');
const route = await import('../../../../src/page/console/parts/route.ts');
const { total } = await import('../../../../src/page/console/client/stream.ts');

beforeEach(() => {
  route.go('/');
  view.selectAll(false);
  bar.steps = 0;
  total.value = 40;
});
afterAll(() => {
  vi.unstubAllGlobals();
});

describe('the filter of the fleet', () => {
  it('is the address without what is not valid', () => {
    route.go('/?q=lift&status=lost,broken,ready&problem=1&site=Old%20town&sort=nothing');
    expect(view.filter.value).toEqual({
      q: 'lift',
      status: ['lost', 'ready'],
      problem: true,
      site: 'Old town',
    });
    expect(view.sort.value).toBe('problems');
  });

  it('knows every status', () => {
    expect([...view.STATUSES].sort()).toEqual([...FLEET_STATUSES].sort());
  });

  it('adds and takes away one status, without a step in the history', () => {
    view.toggleStatus('lost');
    view.toggleStatus('ready');
    expect(bar.search).toBe('?status=lost%2Cready');
    view.toggleStatus('lost');
    expect(view.filter.value).toEqual({ status: ['ready'] });
    view.toggleStatus('ready');
    expect([bar.search, view.filter.value, bar.steps]).toEqual(['', {}, 0]);
  });

  it('falls with the latest change first, and otherwise rises', () => {
    const falls = (address: string): boolean => {
      route.go(address);
      return view.isDescending.value;
    };
    expect(['/', '/?descending=1', '/?sort=since', '/?sort=since&descending=1'].map(falls)).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });
});

describe('the selection', () => {
  it('is each device that was taken, and nothing after the last is given back', () => {
    for (const name of ['a/1', 'a/2', 'a/3', 'a/2']) view.toggleDevice(name);
    expect(view.selectionOf()).toEqual({ devices: ['a/1', 'a/3'] });
    expect([view.selectedCount.value, view.isSelected('a/1'), view.isSelected('a/2')]).toEqual([
      2,
      true,
      false,
    ]);
    for (const name of ['a/1', 'a/3']) view.toggleDevice(name);
    expect([view.selectionOf(), view.selection.value, view.selectedCount.value]).toEqual([null, null, 0]);
  });

  it('is everything that the filter admits, but for those that were taken out', () => {
    view.setFilter({ problem: '1' });
    view.selectAll(true);
    expect(view.selectedCount.value).toBe(40);
    for (const name of ['a/1', 'a/2', 'a/3', 'a/2']) view.toggleDevice(name);
    expect(view.selectionOf()).toEqual({ filter: { problem: true }, except: ['a/1', 'a/3'] });
    expect([view.selectedCount.value, view.isSelected('a/1'), view.isSelected('a/2')]).toEqual([
      38,
      false,
      true,
    ]);
    total.value = 1;
    expect(view.selectedCount.value).toBe(0);
  });

  it.each([
    ['another filter', () => view.setFilter({ site: 'Harbour' })],
    ['a link to other devices', () => route.go('/?site=Harbour')],
    ['a status', () => view.toggleStatus('lost')],
  ])('is nothing after %s', (_name, change) => {
    view.selectAll(true);
    change();
    expect([view.selection.value, view.selectionOf(), view.isSelected('a/1')]).toEqual([null, null, false]);
  });
});

describe('the address', () => {
  it('keeps other parts when one changes, and makes a step only for another page', () => {
    route.go('/device/museum/kiosk%2001?job=7&state=ok');
    route.setQuery({ state: '', kind: 'wake' });
    expect(`${bar.pathname}${bar.search}`).toBe('/device/museum/kiosk%2001?job=7&kind=wake');
    expect([route.queryValue('job'), route.queryValue('state'), bar.steps]).toEqual(['7', '', 1]);
    expect(route.pathParts()).toEqual(['device', 'museum', 'kiosk 01']);
    route.go('/device/%E0%A4%A');
    expect(route.pathParts()).toEqual(['device', '%E0%A4%A']);
  });
});

describe('a link', () => {
  route.beginRoutes();
  /** Clicks on a link; whether the page goes there itself, without loading. */
  const click = (href: string, more: object = {}): boolean => {
    let isOurs = false;
    const event = { target: new FakeLink(href), button: 0, preventDefault: () => (isOurs = true), ...more };
    listeners.get('click')?.(event);
    return isOurs;
  };

  it('leads to another page without loading it', () => {
    expect(click('/jobs?state=ok')).toBe(true);
    expect([route.route.value.path, route.queryValue('state'), bar.steps]).toEqual(['/jobs', 'ok', 1]);
  });

  it.each([
    ['with Ctrl', '/jobs', { ctrlKey: true }],
    ['with Meta', '/jobs', { metaKey: true }],
    ['with Shift', '/jobs', { shiftKey: true }],
    ['with the middle button', '/jobs', { button: 1 }],
    ['that something else has answered', '/jobs', { defaultPrevented: true }],
    ['on another site', 'https://other.example/jobs', {}],
    ['within the page', '#main', {}],
    ['on nothing', '/jobs', { target: null }],
  ])('is left to the browser at a click %s', (_name, href, more) => {
    expect(click(href, more)).toBe(false);
    expect([route.route.value.path, bar.steps]).toEqual(['/', 0]);
  });

  it('is followed by the button "back"', () => {
    click('/jobs');
    go('/cost?month=2026-11');
    listeners.get('popstate')?.({});
    expect([route.route.value.path, route.queryValue('month')]).toEqual(['/cost', '2026-11']);
  });
});
