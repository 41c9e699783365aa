/** `dragoman ctl ... doctor`: output and exit code match those of `dragoman doctor` on the device. */
import { describe, expect, it } from 'vitest';
import { diagnosisOf } from '../../../src/device/doctor/report/finding.ts';
import type { Finding, Verdict } from '../../../src/protocol/mqtt/diagnose.ts';
import { ctlOfEachTest } from './ctl-on-loopback.ts';

const ctl = ctlOfEachTest();

const finding = (check: Finding['check'], verdict: Verdict, fix: string | null = null): Finding => ({
  check,
  verdict,
  fix,
  lane: null,
  data: {},
  finding: `${check} is ${verdict}`,
});
const WELL = [finding('broker', 'ok'), finding('mixer', 'skipped')];
const ODD = [...WELL, finding('clock', 'warning', 'Set it.')];
const ILL = [...ODD, finding('disk', 'problem', 'Free some space.')];

const found = (findings: readonly Finding[]) => ({
  answer: () => ({ status: 'ok', data: diagnosisOf('0.1.0', findings) }),
});

describe('dragoman ctl DEVICE doctor', () => {
  it.each([
    ['well', WELL, 'no problem, 1 ok, 1 skipped', 0],
    ['usable with a warning', ODD, 'no problem, 1 warning, 1 ok, 1 skipped', 0],
    ['ill', ILL, '1 problem, 1 warning, 1 ok, 1 skipped', 3],
  ] as const)(
    'prints the findings of a device that is %s, and exits like "dragoman doctor"',
    async (_, findings, summary, exitCode) => {
      const device = await ctl.device('kiosk-01', found(findings));
      const ran = await ctl.run('kiosk-01', 'doctor');
      expect(ran).toMatchObject({ exitCode, complained: '' });
      const [head, ...lines] = ran.printed.trimEnd().split('\n');
      expect(head).toBe(`kiosk-01: ${summary}`);
      expect(lines[0]).toMatch(/^ok +broker +broker is ok$/);
      expect(lines.filter((line) => /^\w/.test(line))).toHaveLength(findings.length);
      expect(device.received.map(({ name }) => name)).toEqual(['diagnose']);
    },
  );

  it('exits the same way with --json, and prints the unchanged answer', async () => {
    await ctl.device('kiosk-01', found(ILL));
    const { exitCode, printed } = await ctl.run('kiosk-01', 'doctor', '--json');
    expect(exitCode).toBe(3);
    expect(JSON.parse(printed)).toMatchObject({ status: 'ok', data: { verdict: 'problem' } });
  });
});

it('counts the devices with a problem; refusals and missing answers take precedence in the exit code', async () => {
  await ctl.device('kiosk-01', found(ILL));
  await ctl.device('kiosk-02', found(WELL));
  const ran = await ctl.run('--all', 'doctor', '--timeout', '7');
  expect(ran).toMatchObject({ exitCode: 3, complained: 'dragoman: of 2 devices 1 has a problem.\n' });

  await ctl.device('kiosk-03', { status: 'lost', answer: () => null });
  const silent = await ctl.run('--all', 'doctor', '--timeout', '7');
  expect(silent).toMatchObject({
    exitCode: 4,
    complained: 'dragoman: of 3 devices 1 did not answer and 1 has a problem.\n',
  });

  await ctl.device('kiosk-04', {
    answer: () => ({ status: 'error', error: { code: 'busy', message: 'too many' } }),
  });
  const refused = await ctl.run('--all', 'doctor', '--timeout', '7');
  expect(refused).toMatchObject({
    exitCode: 1,
    complained: 'dragoman: of 4 devices 1 failed, 1 did not answer and 1 has a problem.\n',
  });
});
