import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/adapters/clock.ts';
import type { CtlDeps } from '../../../src/cli/ctl/deps.ts';
import { type WatchHost, watchFleet } from '../../../src/cli/ctl/watch-task.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import { operatorTopics } from '../../../src/protocol/mqtt/topics.ts';
import { createJumpingClock } from '../../backend/watch/jumping-clock.ts';
import { until } from '../../until.ts';
import { ctlOfEachTest } from './ctl-on-loopback.ts';

const ctl = ctlOfEachTest();

/** Runs the live table on a terminal of this size. */
function watch(
  size: { columns: number; rows: number } | null,
  json = false,
  clock: Clock = createSystemClock(),
) {
  const written: string[] = [];
  let end = (): void => {};
  const host: WatchHost = {
    output: {
      ...(size ?? {}),
      isTTY: size !== null,
      write: (text) => written.push(text),
      on: () => {},
      off: () => {},
    },
    once: (_, listener) => {
      end = listener;
    },
    off: () => {},
  };
  const deps = {
    shell: {
      env: { TERM: 'xterm' },
      print: (text: string) => void written.push(text),
      complain() {},
      finish() {},
    },
    access: { connection: { url: ctl.brokerUrl, clientId: 'ctl-test' } },
    topics: operatorTopics('dragoman/v1', 'museum'),
    clock,
    target: { kind: 'all' },
    options: json ? { json } : {},
    timeoutS: 1,
    newId: () => 'x',
  } as unknown as CtlDeps;
  const done = watchFleet(deps, host);
  return {
    written,
    text: () => written.join(''),
    end() {
      end();
      return done;
    },
  };
}

describe('dragoman ctl watch', () => {
  it('shows problems first and rewrites only changed rows', async () => {
    await ctl.device('kiosk-01');
    const second = await ctl.device('kiosk-02');
    const table = watch({ columns: 80, rows: 10 });
    await until(() => table.text().includes('2 devices, 0 with a problem'));
    const before = table.written.length;
    second.status('degraded', ['no_backend']);
    await until(() => table.text().includes('2 devices, 1 with a problem'));
    const added = table.written.slice(before).join('');
    expect(added.indexOf('kiosk-02')).toBeLessThan(added.indexOf('kiosk-01'));
    expect(added).not.toContain('DEVICE');
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(table.written.slice(before)).toHaveLength(1);
    await table.end();
    expect(table.text()).toMatch(/\[\?25h/);
  });

  it('shows how many devices do not fit the screen', async () => {
    await Promise.all(Array.from({ length: 9 }, (_, index) => ctl.device(`kiosk-0${index}`)));
    const table = watch({ columns: 60, rows: 6 });
    await until(() => table.text().includes('9 devices'));
    await until(() => table.text().includes('6 more below'));
    await table.end();
  });

  it('keeps the table and reports the lost connection while the broker is away', async () => {
    await ctl.device('kiosk-01');
    const table = watch({ columns: 80, rows: 10 });
    await until(() => table.text().includes('1 device,'));
    ctl.broker().pause();
    await until(() => table.text().includes('no connection to the broker'));
    await table.end();
  });

  it('shows a device as lost that is silent for three minutes, until it is heard again', async () => {
    const clock = createJumpingClock();
    const device = await ctl.device('kiosk-01');
    const lines = watch(null, true, clock);
    await until(() => lines.text().includes('"ready"'));
    clock.jump(170_000);
    await new Promise((later) => setTimeout(later, 300));
    expect(lines.text()).not.toContain('lost');
    clock.jump(20_000);
    await until(() => lines.text().includes('"lost"'));
    expect(lines.text()).toContain('connection_lost');
    const before = lines.written.length;
    device.health();
    await until(() => lines.written.slice(before).join('').includes('"ready"'));
    await lines.end();
  });

  it('prints one line per change into a pipe', async () => {
    const device = await ctl.device('kiosk-01');
    const lines = watch(null, true);
    await until(() => lines.text().includes('ready'));
    device.status('degraded', ['no_backend']);
    await until(() => lines.text().includes('no_backend'));
    await lines.end();
    const rows = lines
      .text()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(rows.at(-1)).toMatchObject({
      device: 'kiosk-01',
      status: 'degraded',
      reasons: 'no_backend',
      isProblem: true,
    });
  });
});
