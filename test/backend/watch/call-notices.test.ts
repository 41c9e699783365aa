import { describe, expect, it } from 'vitest';
import { CALL_NOTICE_EACH_MS, createCallNotices } from '../../../src/backend/watch/call-notices.ts';
import { StoreDown } from '../../../src/ports/store.ts';
import { createVirtualClock } from '../../virtual-clock.ts';

function start(backends = 1) {
  const clock = createVirtualClock();
  const calls = new Map<string, string>();
  const told = new Map<string, string>();
  const sent: string[] = [];
  const failures: unknown[] = [];
  let fault: Error | null = null;
  const store = {
    async tell(subject: string, what: string) {
      if (fault !== null) throw fault;
      const isNews = told.get(subject) !== what;
      told.set(subject, what);
      return isNews;
    },
  };
  const all = Array.from({ length: backends }, () =>
    createCallNotices({
      store,
      clock,
      callOf: (device) => calls.get(device) ?? null,
      tell: (device) => sent.push(device),
      storeFailed: (error) => failures.push(error),
    }),
  );
  return {
    clock,
    sent,
    failures,
    fail(how: Error) {
      fault = how;
    },
    async set(device: string, call: string | null) {
      if (call === null) calls.delete(device);
      else calls.set(device, call);
      for (const notices of all) notices.look(device);
      await Promise.all(all.map((notices) => notices.close()));
    },
  };
}

describe('notices of calls for staff', () => {
  it('come at once, one for each call, whatever the number of reports and backends', async () => {
    const { set, sent, clock } = start(2);
    for (let report = 0; report < 5; report++) await set('museum/a', 'b1 10:00');
    await set('museum/b', 'b1 10:00');
    expect(sent).toEqual(['museum/a', 'museum/b']);
    await set('museum/a', null);
    await clock.elapse(30_000);
    await set('museum/a', 'b1 10:30');
    expect(sent).toEqual(['museum/a', 'museum/b', 'museum/a']);
  });

  it('are limited for a device that reports another call each moment', async () => {
    const { set, sent, clock } = start();
    for (let call = 0; call < 1000; call++) {
      await set('museum/a', `b1 ${call}`);
      await clock.elapse(100);
    }
    expect(sent).toHaveLength(100_000 / CALL_NOTICE_EACH_MS);
  });

  it('come also when the store is down', async () => {
    const { set, sent, failures, fail } = start();
    fail(new StoreDown('away'));
    await set('museum/a', 'b1 10:00');
    expect([sent, failures.length]).toEqual([['museum/a'], 1]);
  });
});
