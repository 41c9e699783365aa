import { expect } from 'vitest';
import { makeWav } from '../adapters/audio/wav-files.ts';
import { BACKEND, BROKER, EMULATOR, FILES, type Kiosk, SERVICE, until } from './kiosk.ts';
import { underSystemd } from './under-systemd.ts';

/** Longest time from SIGTERM to the end (ms), in every state. */
const STOP_LIMIT_MS = 10_000;

const begin = (kiosk: Kiosk): Promise<string> => kiosk.systemctl('start', SERVICE);
const reach = (phase: string) => async (kiosk: Kiosk) => {
  await begin(kiosk);
  await until(phase, async () => (await kiosk.phase()) === phase);
};

/** Steps that bring the agent into each state. `unheard`: the broker does not learn of its end. */
const STATES: Readonly<Record<string, { come(kiosk: Kiosk): Promise<unknown>; unheard?: boolean }>> = {
  'just started': { come: begin, unheard: true },
  live: { come: reach('live') },
  'connecting to a service that does not answer': {
    async come(kiosk) {
      await kiosk.fault({ kind: 'slow_upgrade', ms: 60_000, times: 9 });
      await reach('connecting')(kiosk);
    },
  },
  configuring: {
    async come(kiosk) {
      await kiosk.serve('--setup-ms 60000');
      await reach('configuring')(kiosk);
    },
  },
  'in standby': {
    async come(kiosk) {
      // The echo of the service would count as speech.
      await kiosk.serve('--translate silence');
      await kiosk.configure({
        ...FILES,
        capture: { driver: 'file', path: await silence(kiosk) },
        standbyAfter: 2,
      });
      await reach('standby')(kiosk);
    },
  },
  'rolling over to a session that does not come': {
    async come(kiosk) {
      await kiosk.serve('', { session: { maxSessionDurationSeconds: 60 } });
      await kiosk.configure({ ...FILES, rolloverLead: 55 });
      await reach('live')(kiosk);
      await kiosk.fault({ kind: 'slow_upgrade', ms: 60_000, times: 9 });
      // Waits for half of the shortest session.
      await until('rolling', async () => (await kiosk.phase()) === 'rolling', 120_000);
    },
  },
  'parked for an account that is blocked': {
    async come(kiosk) {
      await kiosk.fault({ kind: 'block_account' });
      await reach('parked')(kiosk);
    },
  },
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

/** A silent recording. */
async function silence({ machine }: Kiosk): Promise<string> {
  const path = '/opt/silence.wav';
  await machine.must(
    ['sh', '-c', `base64 -d >${path}`],
    makeWav({ data: new Uint8Array(48_000) }).toString('base64'),
  );
  return path;
}

underSystemd('life under systemd', (test) => {
  for (const [state, { come, unheard = false }] of Object.entries(STATES)) {
    test(`ends within 10 s of SIGTERM: ${state}`, async (kiosk, { annotate }) => {
      await come(kiosk);
      const took = await kiosk.stop();
      await annotate(`stopped after ${took.toFixed(0)} ms`);
      expect(took).toBeLessThan(STOP_LIMIT_MS);
      expect(await kiosk.show('Result')).toBe('success');
      expect((await kiosk.processes()).size).toBe(0);
      if (unheard) return;
      expect(await kiosk.show('ExecMainStatus')).toBe('0');
      // A broker that was frozen handles earlier messages first, but needs some time.
      await expect.poll(() => kiosk.retained('status')).toMatchObject({ status: 'offline' });
    });
  }
});
