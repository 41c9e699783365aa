import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import {
  about,
  type Check,
  deviceCheck,
  once,
  runChecks,
} from '../../../../src/device/doctor/report/check.ts';
import { ok, problem } from '../../../../src/device/doctor/report/finding.ts';
import { createVirtualClock } from '../../../virtual-clock.ts';

function after(clock: ReturnType<typeof createVirtualClock>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.at(clock.now() + ms, resolve);
  });
}

describe('running checks', () => {
  it('runs all at the same time, and reports in their order', async () => {
    const clock = createVirtualClock();
    const told: string[] = [];
    const check = (name: Check['name'], ms: number): Check =>
      deviceCheck(name, 60_000, async () => {
        await after(clock, ms);
        return ok(`${name} at ${clock.now()}`);
      });
    const startedAt = clock.now();
    const running = runChecks([check('broker', 3000), check('disk', 1000), check('memory', 5000)], {
      clock,
      tell: ({ check: name }) => void told.push(`${name} ${clock.now() - startedAt}`),
    });
    await clock.elapse(10_000);
    await running;
    expect(told).toEqual(['broker 3000', 'disk 3000', 'memory 5000']);
    expect(clock.armed).toBe(0);
  });

  it('reports a check that hangs or throws as a problem', async () => {
    const clock = createVirtualClock();
    const running = runChecks(
      [
        deviceCheck('broker', 7000, () => new Promise(() => {})),
        deviceCheck('disk', 7000, () => {
          throw new Error('no statfs');
        }),
        deviceCheck('memory', 7000, () => ok('enough')),
      ],
      { clock },
    );
    await clock.elapse(7000);
    expect(await running).toMatchObject([
      { check: 'broker', verdict: 'problem', finding: 'did not finish within 7 s' },
      { check: 'disk', verdict: 'problem', finding: 'the check itself failed: no statfs' },
      { check: 'memory', verdict: 'ok', fix: null },
    ]);
  });

  it('reports one finding per lane', async () => {
    const check: Check = {
      name: 'capture',
      limitMs: 1000,
      run: async () => [about('left', ok('a')), about('right', problem('b', 'c'))],
    };
    expect(await runChecks([check], { clock: createVirtualClock() })).toEqual([
      { check: 'capture', lane: 'left', verdict: 'ok', finding: 'a', fix: null, data: {} },
      { check: 'capture', lane: 'right', verdict: 'problem', finding: 'b', fix: 'c', data: {} },
    ]);
  });

  it('stops on request, with the findings so far', async () => {
    const clock = createVirtualClock();
    const end = new AbortController();
    const running = runChecks(
      [deviceCheck('disk', 1000, () => ok('a')), deviceCheck('memory', 1000, () => new Promise(() => {}))],
      { clock, abort: end.signal },
    );
    await clock.elapse(10);
    end.abort();
    expect(await running).toMatchObject([{ check: 'disk' }]);
    expect(clock.armed).toBe(0);
    expect(await runChecks([deviceCheck('disk', 1, () => ok('a'))], { clock, abort: end.signal })).toEqual(
      [],
    );
  });

  it('removes its abort listener when it has ended', async () => {
    const end = new AbortController();
    const listening = () => getEventListeners(end.signal, 'abort').length;
    const options = { clock: createVirtualClock(), abort: end.signal };
    const running = runChecks([deviceCheck('disk', 1000, () => ok('a'))], options);
    expect(listening()).toBe(1);
    await running;
    expect(listening()).toBe(0);
  });

  it('runs shared work once', async () => {
    let times = 0;
    const act = once(async () => {
      times += 1;
      return times;
    });
    expect(await Promise.all([act(), act(), act()])).toEqual([1, 1, 1]);
  });
});
