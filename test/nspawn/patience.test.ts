import { expect } from 'vitest';
import { SERVICE, until } from './kiosk.ts';
import { underSystemd } from './under-systemd.ts';

/** The shipped unit's own times, which are a minute long; the other tests shorten them. */
underSystemd('a minute under systemd', (test) => {
  test('the unit’s own watchdog kills and restarts an agent that hangs', async (kiosk, { annotate }) => {
    await kiosk.systemctl('start', SERVICE);
    await kiosk.live();
    const hung = await kiosk.mainPid();
    await kiosk.systemctl('kill', '--kill-whom=main', '--signal=SIGSTOP', SERVICE);
    const another = async (): Promise<boolean> => ![0, hung].includes(await kiosk.mainPid());
    const took = await until('another process', another, 180_000);
    await annotate(`another process ${(took / 1000).toFixed(1)} s after the stop`);
    expect(took).toBeGreaterThan(30_000);
    expect(await kiosk.journal()).toContain('Watchdog timeout');
    await kiosk.live();
  });

  test('a bad configuration is told again once a minute, as an error', async (kiosk) => {
    await kiosk.configureText('{');
    await kiosk.systemctl('start', SERVICE);
    const told = async (): Promise<number> =>
      (await kiosk.journal('err')).match(/cannot be used/g)?.length ?? 0;
    await until('it is told', async () => (await told()) === 1);
    const took = await until('it is told again', async () => (await told()) === 2, 180_000);
    expect(took).toBeGreaterThan(50_000);
    expect(await kiosk.show('NRestarts')).toBe('0');
  });
});
