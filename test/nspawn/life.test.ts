import { expect } from 'vitest';
import { BACKEND, BROKER, EMULATOR, FILES, type Kiosk, SERVICE, until } from './kiosk.ts';
import { underSystemd } from './under-systemd.ts';

/** From SIGTERM to the end, however the world is. */
const STOP_LIMIT_MS = 10_000;

const begin = (kiosk: Kiosk): Promise<string> => kiosk.systemctl('start', SERVICE);
const reach = (phase: string) => async (kiosk: Kiosk) => {
  await begin(kiosk);
  await until(phase, async () => (await kiosk.phase()) === phase);
};

/** How the agent comes to each state, and whether the broker can hear of its end. */
const STATES: Readonly<Record<string, { come(kiosk: Kiosk): Promise<unknown>; unheard?: boolean }>> = {
  'just started': { come: begin, unheard: true },
  live: { come: reach('live') },
  'idle, waiting for a command': {
    async come(kiosk) {
      await kiosk.configure({ ...FILES, start: 'command' });
      await reach('idle')(kiosk);
    },
  },
  'without a broker': {
    async come(kiosk) {
      await kiosk.disturb('stop', BROKER);
      await begin(kiosk);
      await until('it has tried', async () => /cannot reach/.test(await kiosk.journal()));
    },
    unheard: true,
  },
  'live with a broker that hangs': {
    async come(kiosk) {
      await reach('live')(kiosk);
      await kiosk.disturb('freeze', BROKER);
    },
    unheard: true,
  },
  'without a backend': {
    async come(kiosk) {
      await kiosk.disturb('stop', BACKEND);
      await reach('acquiring')(kiosk);
    },
  },
  'without the service': {
    async come(kiosk) {
      await kiosk.disturb('stop', EMULATOR);
      await reach('waiting')(kiosk);
    },
  },
  'live with a service that hangs': {
    async come(kiosk) {
      await reach('live')(kiosk);
      await kiosk.disturb('freeze', EMULATOR);
    },
  },
};

underSystemd('life under systemd', (test) => {
  for (const [state, { come, unheard = false }] of Object.entries(STATES)) {
    test(`ends within 10 s of SIGTERM: ${state}`, async (kiosk, { annotate }) => {
      await come(kiosk);
      const began = performance.now();
      await kiosk.systemctl('stop', SERVICE);
      const took = performance.now() - began;
      await annotate(`stopped after ${took.toFixed(0)} ms`);
      expect(took).toBeLessThan(STOP_LIMIT_MS);
      expect(await kiosk.show('Result')).toBe('success');
      expect((await kiosk.processes()).size).toBe(0);
      if (unheard) return;
      expect(await kiosk.show('ExecMainStatus')).toBe('0');
      expect(await kiosk.retained('status')).toMatchObject({ status: 'offline' });
    });
  }

  test('is restarted after ten crashes in ten seconds', async (kiosk, { annotate }) => {
    await kiosk.edit(['RestartSec=100ms']);
    await begin(kiosk);
    const began = performance.now();
    let last = 0;
    for (let crash = 0; crash < 10; crash++) {
      await until(`start ${crash + 1}`, async () => ![0, last].includes(await kiosk.mainPid()));
      last = await kiosk.mainPid();
      await kiosk.systemctl('kill', '--kill-whom=main', '--signal=SIGKILL', SERVICE);
    }
    await annotate(`ten crashes in ${((performance.now() - began) / 1000).toFixed(1)} s`);
    await kiosk.live();
    expect(await kiosk.show('NRestarts')).toBe('10');
  });

  test('is killed and restarted when it hangs', async (kiosk, { annotate }) => {
    await begin(kiosk);
    expect(await kiosk.show('WatchdogUSec')).toMatch(/^[1-9]\d*(min|s)/);
    // The unit's own is longer than a test should be.
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
    await kiosk.edit(['WatchdogSec=5']);
    await reach('live')(kiosk);
    const pid = await kiosk.mainPid();
    await kiosk.disturb('freeze', BROKER);
    await kiosk.disturb('freeze', EMULATOR);
    await new Promise((resolve) => setTimeout(resolve, 8000));
    expect(await kiosk.mainPid()).toBe(pid);
  });
});
