/** `dragoman ctl` at a broker that sends no retained messages to a filter with a wildcard. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CtlDeps } from '../../../src/cli/ctl/deps.ts';
import { type WatchHost, watchFleet } from '../../../src/cli/ctl/watch-task.ts';
import { operatorTopics } from '../../../src/protocol/mqtt/topics.ts';
import { createJumpingClock } from '../../backend/watch/jumping-clock.ts';
import { until } from '../../until.ts';
import { ctlOfEachTest, LANE } from './ctl-on-loopback.ts';

const ctl = ctlOfEachTest({ sendsRetainedToWildcards: false });

const ANSWER = {
  status: 'ok',
  data: { status: 'degraded', reasons: ['no_backend'], version: '9.9', uptime_s: 1, lanes: [LANE] },
};

/** A profile whose set-up has these devices. */
function register(...names: string[]): void {
  const devices = names.map((device) => ({ tenant: 'museum', device, groups: [] }));
  const setupFile = join(ctl.home, 'setup.json');
  writeFileSync(setupFile, JSON.stringify({ devices }));
  ctl.writeProfiles({ profiles: { museum: { url: ctl.brokerUrl, tenant: 'museum', setupFile } } });
}

describe('dragoman ctl status', () => {
  it.each([
    ['with registered devices', ['kiosk-01', 'kiosk-02']],
    ['without a set-up', []],
  ])('shows each device by its answer (%s)', async (_, names) => {
    if (names.length > 0) register(...names);
    for (const name of ['kiosk-01', 'kiosk-02']) await ctl.device(name, { answer: () => ANSWER });
    const ran = await ctl.run('--all', 'status');
    const rows = ran.printed.trimEnd().split('\n').slice(1);
    expect(rows.map((row) => row.trim().split(/\s+/).slice(0, 3).join(' '))).toEqual([
      'kiosk-01 degraded no_backend',
      'kiosk-02 degraded no_backend',
    ]);
    expect(ran).toMatchObject({ exitCode: 0, complained: '' });
    for (const row of rows) expect(row).toContain('main live en>es');
  });

  it('waits 5 s for a slow device', async () => {
    let answer: (() => void) | null = null;
    const slow = await ctl.device('kiosk-01', { answer: () => null });
    ctl.after(4500, async () => {
      await until(() => slow.received.length === 1, 'the command');
      answer = () => slow.answer('status', ANSWER);
      answer();
    });
    const ran = await ctl.run('--all', 'status');
    expect(ran.printed).toContain('kiosk-01');
    expect(ran.exitCode).toBe(0);
  });

  it('shows a registered device that does not answer as one that never came', async () => {
    register('kiosk-01', 'kiosk-02');
    await ctl.device('kiosk-01', { answer: () => ANSWER });
    const ran = await ctl.run('--all', 'status');
    expect(ran.printed).toMatch(/kiosk-02 +never/);
    expect(ran.printed).toMatch(/kiosk-01 +degraded/);
  });
});

describe('dragoman ctl watch', () => {
  it('asks the devices, spread over 30 s, when no status has come in 5 s', async () => {
    const clock = createJumpingClock();
    const device = await ctl.device('kiosk-01', {
      answer: () => {
        device.status('idle');
        return null;
      },
    });
    const printed: string[] = [];
    let end = (): void => {};
    const host: WatchHost = {
      output: { isTTY: false, write: () => true, on: () => {}, off: () => {} },
      once: (_, listener) => {
        end = listener;
      },
      off: () => {},
    };
    const deps = {
      shell: { env: {}, print: (text: string) => void printed.push(text), complain() {}, finish() {} },
      access: { connection: { url: ctl.brokerUrl, clientId: 'ctl-test' }, signingKey: null },
      topics: operatorTopics('dragoman/v1', 'museum'),
      clock,
      target: { kind: 'all' },
      options: { json: true },
      timeoutS: 1,
      newId: () => 'x',
    } as unknown as CtlDeps;
    let isUp = false;
    const done = watchFleet(deps, {
      ...host,
      once: (signal, listener) => {
        isUp = true;
        host.once(signal, listener);
      },
    });
    await until(() => isUp, 'the connection');
    clock.jump(5000);
    await until(() => printed.join('').includes('"idle"'), 'the status');
    expect(device.received).toMatchObject([{ name: 'status', body: { args: { spread_s: 30 } } }]);
    end();
    await done;
  });
});
