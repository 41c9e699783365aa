import { expect } from 'vitest';
import { BROKER, EMULATOR, SERVICE, until } from './kiosk.ts';
import { underSystemd } from './under-systemd.ts';

underSystemd('restarts under systemd', (test) => {
  test('is restarted after ten crashes in ten seconds', async (kiosk, { annotate }) => {
    await kiosk.edit(['RestartSec=100ms']);
    await kiosk.systemctl('start', SERVICE);
    const began = performance.now();
    let last = 0;
    for (let crash = 0; crash < 10; crash++) {
      await until(`start ${crash + 1}`, async () => ![0, last].includes(await kiosk.mainPid()));
      last = await kiosk.mainPid();
      await kiosk.systemctl('kill', '--kill-whom=main', '--signal=SIGKILL', SERVICE);
    }
    await annotate(`ten crashes in ${((performance.now() - began) / 1000).toFixed(1)} s`);
    await until('the tenth restart', async () => Number(await kiosk.show('NRestarts')) >= 10);
    await kiosk.live();
    expect(await kiosk.show('NRestarts')).toBe('10');
  });

  test('is killed and restarted when it hangs', async (kiosk, { annotate }) => {
    await kiosk.systemctl('start', SERVICE);
    expect(await kiosk.show('WatchdogUSec')).toMatch(/^[1-9]\d*(min|s)/);
    // The unit's own time is too long for this test.
    await kiosk.edit(['WatchdogSec=5']);
    await kiosk.systemctl('restart', SERVICE);
    const hung = await kiosk.mainPid();
    await kiosk.systemctl('kill', '--kill-whom=main', '--signal=SIGSTOP', SERVICE);
    const took = await until('another process', async () => ![0, hung].includes(await kiosk.mainPid()));
    await annotate(`another process after ${took.toFixed(0)} ms`);
    expect(await kiosk.journal()).toContain('Watchdog timeout');
    await until('it is ready again', async () => (await kiosk.show('ActiveState')) === 'active');
  });

  test('is not killed while the broker and the service do not answer', async (kiosk) => {
    // Long enough for a busy machine: the agent notifies every ten seconds.
    await kiosk.edit(['WatchdogSec=30']);
    await kiosk.systemctl('start', SERVICE);
    await kiosk.live();
    const pid = await kiosk.mainPid();
    await kiosk.disturb('freeze', BROKER);
    await kiosk.disturb('freeze', EMULATOR);
    await new Promise((resolve) => setTimeout(resolve, 45_000));
    expect(await kiosk.mainPid()).toBe(pid);
  });
});
