import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/adapters/clock.ts';
import { loadConfig } from '../../../src/adapters/config/load.ts';
import { pollStart } from '../../../src/cli/boot-report/start-poll.ts';
import { openEnvironment } from '../../../src/cli/demo/environment.ts';
import { createExamination } from '../../../src/device/doctor/examination.ts';
import { logIn } from '../../../src/device/doctor/network/broker-login.ts';
import { runChecks } from '../../../src/device/doctor/report/check.ts';
import { judgeStart } from '../../../src/installer/core/start-facts.ts';
import type { MachineParts } from '../../../src/ports/machine.ts';
import { inProcessPrograms } from '../../e2e/in-process.ts';

const clock = createSystemClock();
const folder = mkdtempSync(join(tmpdir(), 'dragoman-agent-status-'));
const file = join(folder, 'config.json');
/** No systemd, and an agent in the list of processes. */
const machine: MachineParts = {
  env: {},
  kernel: { proc: join(folder, 'proc'), sys: join(folder, 'sys') },
  run: async () => ({ ok: false, missing: true, text: '' }),
  soundAccess: () => ({ inContainer: false }) as never,
};
let environment: Awaited<ReturnType<typeof openEnvironment>>;

beforeAll(async () => {
  environment = await openEnvironment(inProcessPrograms());
  mkdirSync(join(folder, 'proc/4711'), { recursive: true });
  writeFileSync(join(folder, 'proc/4711/cmdline'), `dragoman\0run\0--config\0${file}\0`);
});
afterAll(async () => {
  await environment.close();
  rmSync(folder, { recursive: true, force: true });
});

let devices = 0;
/** Each test has its own device, because the broker retains messages per device. */
async function agentSays(said: { status: string; reasons: string[] } | null): Promise<void> {
  const id = `kiosk-${++devices}`;
  const config = {
    device: { id, tenant: 'museum' },
    mqtt: { url: environment.brokerUrl },
    lanes: [
      {
        id: 'desk',
        source: 'en',
        targets: ['es'],
        capture: { device: 'plughw:CARD=Mic' },
        playback: { device: 'plughw:CARD=Speaker' },
      },
    ],
  };
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
  if (said === null) return;
  const login = await logIn({
    connection: { url: environment.brokerUrl, clientId: id } as never,
    session: { subscriptions: [], will: null },
    clock,
    limitMs: 5000,
    hear() {},
  });
  if (!login.ok) throw new Error(login.message);
  const payload = JSON.stringify({ ts: null, version: '1', ...said });
  await new Promise<void>((resolve) =>
    login.bus.publish(`dragoman/v1/museum/${id}/status`, payload, {
      qos: 1,
      retain: true,
      ended: () => resolve(),
    }),
  );
  await login.bus.close();
}
const load = () => loadConfig({ file, env: {} });
const interfaces = () => [{ name: 'eth0', isWireless: false, hasLink: true, addresses: ['192.0.2.7'] }];

async function look(on = machine): Promise<string> {
  const parts = { file, load, machine: on, clock, interfaces };
  const verdict = judgeStart(await pollStart(parts, true, new AbortController().signal));
  return verdict.kind === 'ready'
    ? 'ready'
    : verdict.troubles.map(({ code, detail }) => `${code}: ${detail}`).join('; ') || verdict.kind;
}

describe('an agent without an init system', () => {
  it.each([
    ['ready', [], /^ready$/],
    ['idle', ['closed'], /^ready$/],
    [
      'degraded',
      ['capture:lost', 'playback:lost'],
      /^no_microphone: degraded \(capture:lost, playback:lost\).*; no_loudspeaker: degraded/,
    ],
    ['degraded', ['playback:lost'], /^no_loudspeaker: degraded \(playback:lost\): broker connected$/],
    ['degraded', ['capture:desk/silent'], /^no_microphone: /],
    ['lost', ['connection_lost'], /^service_down: the agent's last status is "lost \(connection_lost\)"$/],
    ['stopping', ['stopped'], 'not_yet'],
  ] as const)('reports to the boot report that it is %s %j', async (status, reasons, wanted) => {
    await agentSays({ status, reasons: [...reasons] });
    expect(await look()).toMatch(wanted);
  });

  it('is not ready without a status', async () => {
    await agentSays(null);
    expect(await look()).toBe('not_yet');
  });
});

describe('no agent at all', () => {
  it.each([
    ['among the processes', String(process.pid)],
    ['when processes are hidden', 'self'],
  ])('%s: is not ready although the broker still retains an old status', async (_, entry) => {
    await agentSays({ status: 'ready', reasons: [] });
    const proc = join(folder, `nobody-${entry}`);
    mkdirSync(join(proc, entry), { recursive: true });
    const alone = { ...machine, kernel: { ...machine.kernel, proc } };
    expect(await look(alone)).toMatch(/^no_microphone: /);
  });

  it('has no status, although the broker still retains one', async () => {
    await agentSays({ status: 'ready', reasons: [] });
    const proc = join(folder, 'no-agent');
    mkdirSync(join(proc, String(process.pid)), { recursive: true });
    const alone = { ...machine, kernel: { ...machine.kernel, proc } };
    const options = { file, loaded: load(), clock, only: [], isSilent: true };
    const examination = createExamination({ ...options, machine: alone });
    expect(await examination.agentStatus()).toBeNull();
    await examination.close();
    const beside = createExamination({ ...options, machine });
    expect(await beside.agentStatus()).toMatchObject({ status: 'ready' });
    await beside.close();
  });
});

describe('a device that a running agent uses', () => {
  const examine = async (): Promise<string[]> => {
    const examination = createExamination({
      file,
      loaded: load(),
      machine,
      clock,
      only: ['capture', 'playback'],
      isSilent: false,
    });
    const findings = await runChecks(examination.checks, { clock });
    await examination.close();
    return findings.map(({ check, verdict, finding }) => `${check} ${verdict}: ${finding}`);
  };

  it('is a problem for the doctor when the agent reports it as lost', async () => {
    await agentSays({ status: 'degraded', reasons: ['capture:desk/lost', 'playback:other/lost'] });
    expect(await examine()).toEqual([
      'capture problem: plughw:CARD=Mic: the running agent (process 4711) reports "capture:desk/lost"',
      expect.stringMatching(/^playback skipped: the running agent \(process 4711\) uses it/),
    ]);
  });

  it('is left to the agent without a fault', async () => {
    await agentSays({ status: 'ready', reasons: [] });
    expect(await examine()).toEqual([
      expect.stringMatching(/^capture skipped: /),
      expect.stringMatching(/^playback skipped: /),
    ]);
  });
});
