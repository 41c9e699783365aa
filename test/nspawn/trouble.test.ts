import { expect } from 'vitest';
import { FILES, type Kiosk, SERVICE, until } from './kiosk.ts';
import { underSystemd } from './under-systemd.ts';

const STATE = '/var/lib/dragoman';
/** Recording in the unit's own /tmp, so that a full state folder does not affect it. */
const ELSEWHERE = { ...FILES, playback: { driver: 'file', path: '/tmp/spoken.wav' } };
const BROKEN = {
  device: { id: 'kiosk-01', tenant: 'museum' },
  lanes: [{ ...ELSEWHERE, source: 'en', targets: [] }],
  mqtt: { url: 'mqtt://127.0.0.1:1883', username: 'kiosk', passwordFile: 'mqtt-password' },
};

underSystemd('configuration under systemd', (test) => {
  test('keeps the agent running when it is bad, with the reason, until it is repaired', async (kiosk, {
    annotate,
  }) => {
    await kiosk.configureText(JSON.stringify(BROKEN));
    const began = performance.now();
    await kiosk.systemctl('start', SERVICE);
    const pid = await kiosk.mainPid();
    await until('the status at the broker', async () => (await kiosk.retained('status')) !== null);
    expect(await kiosk.retained('status')).toMatchObject({
      status: 'degraded',
      reasons: [expect.stringMatching(/^config:lanes/)],
    });
    expect(await kiosk.journal('err')).toContain('targets');
    await kiosk.untilStatus('targets');
    expect(await kiosk.command('mute')).toMatchObject({ status: 'error', error: { code: 'config' } });
    expect(await kiosk.command('status')).toMatchObject({ status: 'ok', data: { status: 'degraded' } });
    // Longer than systemd takes to restart a unit.
    await new Promise((resolve) => setTimeout(resolve, 4000));
    expect([await kiosk.mainPid(), await kiosk.show('NRestarts')]).toEqual([pid, '0']);
    // Logged once, then once a minute.
    const told = (await kiosk.journal('err')).match(/the configuration is unusable/g)?.length ?? 0;
    expect(told).toBeGreaterThan(0);
    expect(told).toBeLessThanOrEqual(1 + Math.floor((performance.now() - began) / 60_000));
    await kiosk.configure(ELSEWHERE);
    await annotate(`live ${(await kiosk.live()).toFixed(0)} ms after its repair`);
    expect([await kiosk.mainPid(), await kiosk.show('NRestarts')]).toEqual([pid, '0']);
  });

  test('keeps the agent running when it, or the password file, is missing', async (kiosk) => {
    await kiosk.machine.must([
      'rm',
      '-r',
      '/etc/systemd/system/dragoman.service.d',
      '/etc/dragoman/config.json',
    ]);
    await kiosk.systemctl('daemon-reload');
    await kiosk.systemctl('start', SERVICE);
    await until('the error', async () => (await kiosk.journal('err')).includes('/etc/dragoman/config.json'));
    await kiosk.configure(ELSEWHERE);
    await until('the next error', async () => (await kiosk.journal('err')).includes('mqtt-password'));
    await kiosk.untilStatus('mqtt-password');
    expect(await kiosk.show('NRestarts')).toBe('0');
    expect(await kiosk.show('ActiveState')).toBe('active');
  });

  test('does not delay the end after SIGTERM beyond 10 s when it is bad', async (kiosk) => {
    await kiosk.configureText('{');
    await kiosk.systemctl('start', SERVICE);
    await until('the error', async () => (await kiosk.journal('err')) !== '');
    expect(await kiosk.stop()).toBeLessThan(10_000);
    expect(await kiosk.show('Result')).toBe('success');
  });
});

underSystemd('disk under systemd', (test) => {
  test('interprets and answers commands when the state folder is full', async (kiosk) => {
    await mount(kiosk);
    await fill(kiosk);
    await kiosk.configure(ELSEWHERE);
    await kiosk.systemctl('start', SERVICE);
    await kiosk.live();
    expect(await kiosk.command('status')).toMatchObject({ status: 'ok' });
    expect(await kiosk.show('NRestarts')).toBe('0');
  });

  test('continues when the state folder becomes full', async (kiosk) => {
    await mount(kiosk);
    await kiosk.configure(ELSEWHERE);
    await kiosk.systemctl('start', SERVICE);
    await kiosk.live();
    await fill(kiosk);
    const pid = await kiosk.mainPid();
    expect(await kiosk.command('mute')).toMatchObject({ status: 'ok' });
    expect(await kiosk.command('unmute')).toMatchObject({ status: 'ok' });
    expect(await kiosk.mainPid()).toBe(pid);
    await kiosk.live();
  });

  test('interprets and answers commands when the state folder is read-only', async (kiosk) => {
    await mount(kiosk);
    await kiosk.machine.must(['mount', '-o', 'remount,ro', STATE]);
    await kiosk.configure(ELSEWHERE);
    await kiosk.systemctl('start', SERVICE);
    await kiosk.live();
    expect(await kiosk.command('status')).toMatchObject({ status: 'ok' });
    expect(await kiosk.show('NRestarts')).toBe('0');
  });
});

/** Mounts a separate disk for the agent's state, as systemd leaves it after a first start. */
async function mount({ machine }: Kiosk): Promise<void> {
  await machine.must(['mkdir', '-p', STATE]);
  await machine.must([
    'mount',
    '-t',
    'tmpfs',
    '-o',
    'size=64k,mode=755,uid=dragoman,gid=dragoman',
    'state',
    STATE,
  ]);
}

async function fill({ machine }: Kiosk): Promise<void> {
  const { code, stderr } = await machine.run(['dd', 'if=/dev/zero', `of=${STATE}/filler`, 'bs=4k']);
  expect([code, stderr]).toEqual([1, expect.stringContaining('No space left')]);
}
