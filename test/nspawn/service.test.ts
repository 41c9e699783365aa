import { expect } from 'vitest';
import { OWN_HEADER_BYTES } from '../../src/adapters/audio/own-wav.ts';
import { visitors } from '../card/agent-on-a-card.ts';
import { findMarkers } from '../card/sound.ts';
import { type Kiosk, SERVICE, until } from './kiosk.ts';
import { underSystemd } from './under-systemd.ts';

const RATE_HZ = 24_000;

underSystemd('service', (test) => {
  test('starts, and plays the echo of its microphone through files', async (kiosk, { annotate }) => {
    await kiosk.systemctl('enable', '--now', SERVICE);
    await until('active', async () => (await kiosk.show('ActiveState')) === 'active');
    await annotate(`live after ${(await kiosk.live()).toFixed(0)} ms`);
    const { sound } = await visitors();
    await until('speech comes back', async () => {
      const markers = findMarkers(await spoken(kiosk), sound.subarray(0, 8 * RATE_HZ), RATE_HZ);
      return markers.filter(({ found }) => found >= 0).length >= 20;
    });
    expect(await kiosk.show('NRestarts')).toBe('0');
    expect(await kiosk.show('NRestarts', 'dragoman-backend.service')).toBe('0');
    expect(await kiosk.journal('err')).toBe('');
    // If the machine hung meanwhile, the status was temporarily different.
    await expect.poll(() => kiosk.retained('status')).toMatchObject({ status: 'ready', reasons: [] });
  });

  test('gets its password as a credential that other processes of its user cannot read', async (kiosk) => {
    await kiosk.systemctl('start', SERVICE);
    // The broker requires the password.
    await kiosk.live();
    const asUser = ['setpriv', '--reuid=dragoman', '--regid=dragoman', '--clear-groups'];
    for (const path of ['/etc/dragoman/secrets/mqtt-password', '/etc/dragoman-backend/secrets/api-key']) {
      const { code, stderr } = await kiosk.machine.run([...asUser, 'cat', path]);
      expect([code, stderr]).toEqual([1, expect.stringContaining('Permission denied')]);
    }
    const environment = await kiosk.machine.must(['cat', `/proc/${await kiosk.mainPid()}/environ`]);
    expect(environment).toContain('CREDENTIALS_DIRECTORY=');
    expect(environment).not.toContain('kiosk-password');
  });

  test('reads a changed configuration at reload, and keeps the old one when the new one is invalid', async (kiosk) => {
    await kiosk.systemctl('start', SERVICE);
    await kiosk.live();
    const pid = await kiosk.mainPid();
    await kiosk.configureText('{"device": {"id": "kiosk-01", "tenant": "museum"}, "mqqt": {}}');
    await kiosk.systemctl('reload', SERVICE);
    await until('the journal has it as an error', async () => /problems/.test(await kiosk.journal('err')));
    const errors = await kiosk.journal('err');
    expect(errors).toContain('mqqt');
    // Other messages are not errors.
    expect(errors).not.toMatch(/phase|connected/);
    expect(await kiosk.journal('info')).toContain('connected to the broker');
    await kiosk.live();
    expect(await kiosk.mainPid()).toBe(pid);
    await kiosk.configure({ targets: ['de'] });
    await kiosk.systemctl('reload', SERVICE);
    await until('the new target', async () => JSON.stringify(await kiosk.retained('state')).includes('"de"'));
    expect(await kiosk.mainPid()).toBe(pid);
  });
});

/** Sound that the agent has played so far. */
async function spoken({ machine }: Kiosk): Promise<Int16Array> {
  const { code, stdout } = await machine.run(['base64', '/var/lib/dragoman/spoken.wav']);
  if (code !== 0) return new Int16Array(0);
  const bytes = new Uint8Array(Buffer.from(stdout, 'base64').subarray(OWN_HEADER_BYTES));
  return new Int16Array(bytes.buffer, 0, Math.floor(bytes.byteLength / 2));
}
