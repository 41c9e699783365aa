import { expect } from 'vitest';
import type { Diagnosis, Finding } from '../../src/protocol/mqtt/diagnose.ts';
import { FILES, type Kiosk, SERVICE, until } from './kiosk.ts';
import { underSystemd } from './under-systemd.ts';

const AS_AGENT = ['setpriv', '--reuid=dragoman', '--regid=dragoman', '--init-groups'];
/** Hidden from the agent by ProtectHome. */
const HIDDEN = `${'/home'}/kim/visitor.wav`;

async function examine(kiosk: Kiosk, as: readonly string[] = []): Promise<(check: string) => Finding> {
  const only = ['configuration', 'agent', 'broker'].flatMap((name) => ['--only', name]);
  const doctor = ['/usr/bin/node', '/opt/dragoman/dragoman.mjs', 'doctor'];
  const { stdout } = await kiosk.machine.run([
    ...as,
    ...doctor,
    '--config',
    '/etc/dragoman/config.json',
    '--json',
    ...only,
  ]);
  const { checks } = (JSON.parse(stdout) as { doctor: Diagnosis }).doctor;
  return (name) => {
    const found = checks.find(({ check }) => check === name);
    if (found === undefined) throw new Error(`nothing about ${name}: ${stdout}`);
    return found;
  };
}

underSystemd('the doctor beside the service', (test) => {
  test('reads the note and the credentials of the service', async (kiosk) => {
    await kiosk.configure(FILES);
    await kiosk.systemctl('start', SERVICE);
    await kiosk.live();
    await until('the note', async () => (await examine(kiosk))('agent').data['status'] === 'ready');
    // If the machine hangs meanwhile, a check finds that.
    await expect
      .poll(async () => {
        const of = await examine(kiosk);
        return [of('agent'), of('configuration'), of('broker')].map(({ verdict }) => verdict);
      })
      .toEqual(['ok', 'ok', 'ok']);
    await expect
      .poll(async () => (await examine(kiosk, AS_AGENT))('agent'))
      .toMatchObject({ verdict: 'ok', data: { status: 'ready', differing: [] } });
  });

  test('sees a file that the sandbox hides, and a reload that repairs it', async (kiosk) => {
    await kiosk.machine.must(['install', '-D', '-m', '0644', FILES.capture.path, HIDDEN]);
    await kiosk.configure({ ...FILES, capture: { ...FILES.capture, path: HIDDEN } });
    await kiosk.systemctl('start', SERVICE);
    const hasLost = async (): Promise<boolean> =>
      (await examine(kiosk))('agent').finding.includes('"capture:lost"');
    await until('the lost microphone', hasLost);
    const pid = await kiosk.mainPid();
    expect((await examine(kiosk))('configuration')).toMatchObject({
      verdict: 'problem',
      finding: expect.stringMatching(/^lanes\[0\]\.capture\.path: .*visitor\.wav .*ProtectHome=yes/),
      fix: expect.stringContaining('/etc/dragoman'),
    });
    await kiosk.configure(FILES);
    expect((await examine(kiosk))('agent').finding).toContain('runs with another configuration: lanes');
    await kiosk.systemctl('reload', SERVICE);
    await kiosk.live();
    await until('the repair', async () => (await examine(kiosk))('agent').verdict === 'ok');
    expect(await kiosk.mainPid()).toBe(pid);
  });
});
