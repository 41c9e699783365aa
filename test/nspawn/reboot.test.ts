import { expect } from 'vitest';
import { FILES, SERVICE, until } from './kiosk.ts';
import { probe } from './probe.ts';
import { underSystemd } from './under-systemd.ts';

/** The shortest time that the configuration allows (s). */
const AFTER_S = 60;

underSystemd('reboot for a sound device that does not come back', (test) => {
  test('is not allowed for a program under the unit', async (kiosk) => {
    expect(await probe(kiosk, 'systemctl reboot')).not.toBe('0');
    expect(kiosk.machine.isUp()).toBe(true);
  });

  // The last test: afterwards the container is gone.
  test('happens through the path unit when the agent requests it as in the example configuration', async (kiosk, {
    annotate,
  }) => {
    await kiosk.systemctl('enable', '--now', 'dragoman-reboot.path');
    await kiosk.configureAll({
      lanes: [{ ...FILES, capture: { driver: 'command', command: ['false'] } }],
      audio: { unfixable: { command: ['touch', '/run/dragoman/reboot'], afterS: AFTER_S } },
    });
    // The time starts during the start command, which may return late.
    const began = performance.now();
    await kiosk.systemctl('start', SERVICE);
    await until('the machine goes down', async () => !kiosk.machine.isUp(), 200_000);
    const took = performance.now() - began;
    await annotate(`down ${(took / 1000).toFixed(0)} s after the start without a microphone`);
    expect(took).toBeGreaterThan((AFTER_S - 5) * 1000);
  });
});
