import { expect } from 'vitest';
import { SERVICE, until } from './kiosk.ts';
import { underSystemd } from './under-systemd.ts';

/** Tests with the shipped unit's times of a minute, which the other tests shorten. */
underSystemd('a minute under systemd', (test) => {
  test('the unit’s watchdog kills and restarts an agent that hangs', async (kiosk, { annotate }) => {
    await kiosk.systemctl('start', SERVICE);
    await kiosk.live();
    const hung = await kiosk.mainPid();
    const began = performance.now();
    await kiosk.systemctl('kill', '--kill-whom=main', '--signal=SIGSTOP', SERVICE);
    const another = async (): Promise<boolean> => ![0, hung].includes(await kiosk.mainPid());
    await until('another process', another, 180_000);
    const took = performance.now() - began;
    await annotate(`another process ${(took / 1000).toFixed(1)} s after the stop`);
    expect(took).toBeGreaterThan(30_000);
    expect(await kiosk.journal()).toContain('Watchdog timeout');
    await kiosk.live();
  });

  test('the agent logs a bad configuration once a minute, as an error', async (kiosk) => {
    await kiosk.configureText('{');
    await kiosk.systemctl('start', SERVICE);
    const toldAt = async (): Promise<number[]> => {
      const words = ['journalctl', '-o', 'short-unix', '-p', 'err', '-u', SERVICE];
      const lines = (await kiosk.machine.must(words)).split('\n');
      return lines.filter((line) => line.includes('the configuration is unusable')).map(Number.parseFloat);
    };
    await until('the second error', async () => (await toldAt()).length > 1, 180_000);
    const [first = 0, second = 0] = await toldAt();
    expect(second - first).toBeGreaterThan(50);
    expect(second - first).toBeLessThan(120);
    expect(await kiosk.show('NRestarts')).toBe('0');
  });
});
