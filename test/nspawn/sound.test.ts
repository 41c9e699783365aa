import { chmodSync, chownSync } from 'node:fs';
import { afterAll, expect } from 'vitest';
import { visitors } from '../card/agent-on-a-card.ts';
import { type Card, openRack } from '../card/card.ts';
import { findMarkers } from '../card/sound.ts';
import { type Kiosk, SERVICE, until } from './kiosk.ts';
import { underSystemd } from './under-systemd.ts';

/** Folder of a kernel's sound cards. A unit that hides it also hides the virtual cards. */
const CARDS = '/dev/snd';
/** Debian's group `audio`, which owns the sound cards. */
const AUDIO_GROUP = 29;
const RATE_HZ = 24_000;
/** The agent and its audio programs. */
const PROGRAMS = ['aplay', 'arecord', 'node'];

const { rack, missing } = await openRack(CARDS);
afterAll(() => rack?.close());
if (rack !== null && process.getuid?.() === 0) {
  // Owner and group as for real sound cards.
  chownSync(rack.folder, 0, AUDIO_GROUP);
  chmodSync(rack.folder, 0o770);
}
const { sound } = await visitors();
/**
 * Log line of the agent when a slow machine has stopped it, arecord or aplay for seconds. A forbidden system call has another log
 * line, and after a permanent hang no speech would come back.
 */
const STOOD_STILL = /\bcode=(?:capture_|playback_)?hung\b/;
let count = 0;

underSystemd(
  'sound under the unit',
  (test) => {
    test('captures with arecord and plays with aplay, both under the unit’s filter', async (kiosk, {
      annotate,
    }) => {
      const card = await start(kiosk);
      const took = await until('speech comes back', async () => foundIn(await card.playback.sound()) >= 20);
      await annotate(`20 places of the speech heard after ${took.toFixed(0)} ms`);
      const warnings = (await kiosk.journal('warning')).split('\n');
      expect(warnings.filter((line) => line !== '' && !STOOD_STILL.test(line))).toEqual([]);

      const limits = await limitsOf(kiosk);
      expect([...limits.keys()].sort()).toEqual(PROGRAMS);
      expect(new Set(limits.values()).size).toBe(1);
      expect(limits.get('node')).toMatch(/^Seccomp:\s+2$/m);
      expect(limits.get('node')).toMatch(/^NoNewPrivs:\s+1$/m);
      expect(limits.get('node')).toMatch(/^CapBnd:\s+0+$/m);
    });

    test('returns with new children after a SIGKILL', async (kiosk, { annotate }) => {
      const card = await start(kiosk);
      const before = await kiosk.untilPrograms(...PROGRAMS);
      await kiosk.systemctl('kill', '--kill-whom=main', '--signal=SIGKILL', SERVICE);
      const took = await until('other children', async () => {
        const after = await kiosk.untilPrograms(...PROGRAMS);
        return [...after.keys()].every((pid) => !before.has(pid));
      });
      await annotate(`other children after ${took.toFixed(0)} ms`);
      expect(await kiosk.show('NRestarts')).toBe('1');
      const spoken = (await card.playback.sound()).length;
      await until('speech again', async () => (await card.playback.sound()).length > spoken + RATE_HZ);
    });

    test('leaves no process at a card that hangs when it is stopped', async (kiosk, { annotate }) => {
      const card = await start(kiosk);
      card.capture.control('stall');
      card.playback.control('stall');
      const took = await kiosk.stop();
      await annotate(`stopped after ${took.toFixed(0)} ms`);
      expect(took).toBeLessThan(10_000);
      expect(await kiosk.show('Result')).toBe('success');
      expect((await kiosk.processes()).size).toBe(0);
    });

    test('leaves no process at a card that hangs when it is killed', async (kiosk) => {
      const card = await start(kiosk);
      const before = [...(await kiosk.processes()).keys()];
      card.capture.control('stall');
      card.playback.control('stall');
      // The children are in a blocked system call and do not notice the broken pipe.
      await new Promise((resolve) => setTimeout(resolve, 500));
      await kiosk.systemctl('kill', '--kill-whom=main', '--signal=SIGKILL', SERVICE);
      await until('all are gone', async () => {
        const ls = await kiosk.machine.run(['ls', '-d', ...before.map((pid) => `/proc/${pid}`)]);
        return ls.stdout === '';
      });
    });

    test('reports a missing card, and uses a card that is plugged in', async (kiosk) => {
      const card = await insert(kiosk);
      card.capture.control('unplug');
      await kiosk.systemctl('start', SERVICE);
      await until('the report', async () => {
        const status = (await kiosk.retained('status')) as { status: string; reasons: string[] } | null;
        return status?.status === 'degraded' && status.reasons.includes('capture:lost');
      });
      expect(await kiosk.show('ActiveState')).toBe('active');
      expect(await kiosk.journal('warning')).toMatch(/went away|there is no capture device/);
      card.capture.control();
      await until('the microphone', async () =>
        (await card.capture.log()).some(({ event }) => event === 'start'),
      );
    });
  },
  { missing, shared: rack === null ? [] : [{ from: rack.folder, to: CARDS, writable: true }] },
);

async function insert(kiosk: Kiosk): Promise<Card> {
  if (rack === null) throw new Error('the virtual cards are missing');
  const card = await rack.insert({ id: `Kiosk${++count}`, capture: { sound, loop: true } });
  await kiosk.edit([`Environment=ALSA_CONFIG_PATH=${CARDS}/alsa.conf`]);
  // The test finds speech by its samples, so the loudness must not change. The service does not speak texts, and in a pause of the
  // speech, which a slow machine makes, the agent would warn about that.
  const part = { device: card.device };
  await kiosk.configureAll({
    lanes: [{ capture: part, playback: { ...part, normalize: false } }],
    conversation: { notice: false },
  });
  return card;
}

/** Starts the agent with its own card. */
async function start(kiosk: Kiosk): Promise<Card> {
  const card = await insert(kiosk);
  await kiosk.systemctl('start', SERVICE);
  await kiosk.live();
  await kiosk.untilPrograms(...PROGRAMS);
  return card;
}

/** The kernel's limits of each program. Reads all of them again if a process has changed meanwhile. */
async function limitsOf(kiosk: Kiosk): Promise<Map<string, string>> {
  const limits = new Map<string, string>();
  await until('each program’s limits', async () => {
    limits.clear();
    for (const [pid, program] of await kiosk.untilPrograms(...PROGRAMS)) {
      const { code, stdout } = await kiosk.machine.run(['cat', `/proc/${pid}/status`]);
      if (code !== 0) return false;
      const lines = stdout.match(/^(?:Seccomp.*|NoNewPrivs|CapEff|CapBnd|Groups):.*$/gm) ?? [];
      limits.set(program, lines.join('\n'));
    }
    return true;
  });
  return limits;
}

/** Number of places of the captured speech that were played; the service echoes its input. */
const foundIn = (timeline: Int16Array): number =>
  findMarkers(timeline, sound.subarray(0, 8 * RATE_HZ), RATE_HZ).filter(({ found }) => found >= 0).length;
