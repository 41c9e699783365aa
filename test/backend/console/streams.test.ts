/** How many streams there may be, and what is left when they end. */
import { describe, expect, it } from 'vitest';
import { Streams } from '../../../src/backend/console/streams.ts';
import { createFleet } from '../../../src/backend/fleet/fleet.ts';
import { fleetViewSchema } from '../../../src/protocol/console-fleet.ts';
import type { Job } from '../../../src/protocol/console-jobs.ts';
import type { ConsoleRole } from '../../../src/protocol/console-routes.ts';
import { createVirtualClock } from '../../virtual-clock.ts';

const VIEW = fleetViewSchema.parse({});

function start(allow: string[] = []) {
  const clock = createVirtualClock();
  const fleet = createFleet({ allow, groups: [], devices: {} }, clock);
  const signedOut = new Set<string>();
  const asked: string[] = [];
  /** Jobs that the next messages report. */
  const changedJobs: Job[] = [];
  const streams = new Streams({
    fleet,
    prefix: 'p/v1',
    clock,
    jobs: { recent: () => [], takeChanged: () => changedJobs.splice(0) },
    isConnected: () => true,
    async isSignedIn(key) {
      asked.push(key);
      return !signedOut.has(key);
    },
  });
  const open = (name: string, role: ConsoleRole = 'viewer', session = name) => {
    const who = { name, role, endsAt: 0 };
    if (!streams.mayOpen(who)) return null;
    const sink = { text: '', isClosed: false, unread: 0 };
    const leave = streams.open(
      { session, who, view: VIEW, device: null },
      {
        write(...parts) {
          sink.text += Buffer.concat([...parts]).toString();
        },
        get unread() {
          return sink.unread;
        },
        close() {
          sink.isClosed = true;
        },
      },
    );
    return { sink, leave };
  };
  const openMany = (count: number, name: string, role?: ConsoleRole) =>
    Array.from({ length: count }, () => open(name, role)).filter((one) => one !== null).length;
  return { clock, fleet, streams, open, openMany, signedOut, asked, changedJobs };
}
const pings = (text: string): number => text.split('event: ping').length - 1;

describe('streams', () => {
  it('are 20 for a person and 180 in all, and 20 more for administrators', () => {
    const { openMany, open } = start();
    expect(openMany(30, 'v0')).toBe(20);
    for (let person = 1; person < 9; person += 1) expect(openMany(20, `v${person}`)).toBe(20);
    expect([open('v9'), open('otto', 'operator')]).toEqual([null, null]);
    expect(openMany(15, 'ann', 'administrator')).toBe(15);
    expect(openMany(15, 'ben', 'administrator')).toBe(5);
  });

  it('make room when one ends', () => {
    const { openMany, open } = start();
    expect(openMany(19, 'vic')).toBe(19);
    const last = open('vic');
    expect(open('vic')).toBeNull();
    last?.leave();
    expect(open('vic')).not.toBeNull();
  });

  it('get one ping each 10 s, however often pages were loaded again, and none when they are gone', async () => {
    const { clock, streams, open } = start();
    expect(clock.armed).toBe(1);
    for (let reload = 0; reload < 5; reload += 1) open('vic')?.leave();
    const { sink, leave } = open('vic') ?? {};
    expect(clock.armed).toBe(2);
    await clock.elapse(9_999);
    expect(pings(sink?.text ?? '')).toBe(0);
    await clock.elapse(1);
    expect(pings(sink?.text ?? '')).toBe(1);
    await clock.elapse(20_000);
    expect(pings(sink?.text ?? '')).toBe(3);
    leave?.();
    expect(clock.armed).toBe(1);
    streams.close();
    expect(clock.armed).toBe(0);
  });

  it('end with their session within 10 s, and those of other sessions go on', async () => {
    const { clock, open, signedOut, asked, streams } = start();
    const [one, two, other] = [
      open('vic', 'viewer', 'k1'),
      open('vic', 'viewer', 'k1'),
      open('vic', 'viewer', 'k2'),
    ];
    signedOut.add('k1');
    await clock.elapse(10_000);
    expect([one?.sink.isClosed, two?.sink.isClosed, other?.sink.isClosed]).toEqual([true, true, false]);
    expect(one?.sink.text).toContain('event: end\n');
    expect(other?.sink.text).not.toContain('event: end\n');
    expect(asked).toEqual(['k1', 'k2']);
    expect(streams.count).toBe(1);
  });

  it('are dropped when more than 256 KiB wait for the reader', async () => {
    const { clock, open, streams } = start();
    const { sink } = open('vic') ?? {};
    if (sink === undefined) throw new Error('no stream');
    sink.unread = 262_144;
    await clock.elapse(10_000);
    expect(sink.isClosed).toBe(false);
    sink.unread += 1;
    await clock.elapse(10_000);
    expect([sink.isClosed, streams.count]).toEqual([true, 0]);
  });

  it('go on with the same view when one that is too slow changes its view', async () => {
    const { clock, open, streams, changedJobs } = start();
    const [slow, other] = [open('vic')?.sink, open('vic')?.sink];
    if (slow === undefined || other === undefined) throw new Error('no stream');
    slow.unread = 262_145;
    changedJobs.push({ id: 'first' } as Job);
    const stream = /"stream":"([^"]+)"/.exec(slow.text)?.[1] ?? '';
    const view = { ...VIEW, descending: true };
    expect(streams.change('vic', { stream, number: 1, view })).toBe(false);
    changedJobs.push({ id: 'second' } as Job);
    await clock.elapse(250);
    expect(other.text).toContain('second');
  });

  it('get a changed device once', async () => {
    const { clock, fleet, open } = start(['museum/a', 'museum/b']);
    const { sink } = open('vic') ?? {};
    const lane = { id: 'main', phase: 'live', source: 'en', targets: ['es'], volume: 71 };
    const payload = JSON.stringify({ ts: null, boot_id: 'b', groups: [], lanes: [lane] });
    fleet.hear({ kind: 'state', name: 'museum/a', payload, isRetained: false });
    await clock.elapse(2000);
    expect(sink?.text.split('"volume":71')).toHaveLength(2);
  });
});
