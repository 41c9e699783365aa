import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, inject } from 'vitest';
import { visitors } from '../card/agent-on-a-card.ts';
import { openRack } from '../card/card.ts';
import { type Kiosk, SERVICE, until } from './kiosk.ts';
import { openMeter, whyNoMeter } from './memory-meter.ts';
import { underSystemd } from './under-systemd.ts';

const MIB = 2 ** 20;
const CARDS = '/dev/snd';
const TOOLS = '/opt/tools';
const UNIT = fileURLToPath(new URL(`../../systemd/${SERVICE}`, import.meta.url));
const MEMORY_MAX = Number(/^MemoryMax=(\d+)M$/m.exec(readFileSync(UNIT, 'utf8'))?.[1]) * MIB;
/**
 * MemoryMax divided by the allowed peak. MemoryMax is 1.5 times the worst of six such runs (258 to 293 MiB on Debian 12); the peak
 * depends on the garbage collection of V8. A peak above three quarters means that the agent has grown.
 */
const HEADROOM = 4 / 3;

const { rack, missing } = await openRack(CARDS);
if (rack !== null) chmodSync(rack.folder, 0o777);
const { sound } = await visitors();

/** Folder of a copy of Node that is not in the page cache, because on a device no other program uses it. */
const tools = mkdtempSync(join(tmpdir(), 'dragoman-tools-'));
afterAll(async () => {
  await rack?.close();
  rmSync(tools, { recursive: true });
});
function copyNode(): void {
  const debian = inject('debian');
  if (debian.missing !== null) return;
  const own = join(debian.root, 'usr/bin/node');
  const node = join(tools, 'node');
  copyFileSync(debian.suite === 'bookworm' ? realpathSync(process.execPath) : own, node);
  chmodSync(tools, 0o755);
  execFileSync('sync', [node]);
  execFileSync('dd', [`of=${node}`, 'oflag=nocache', 'conv=notrunc,fdatasync', 'count=0', 'status=none']);
}

/** Wait for an answer (s). Command and answer are queued after the flood, which takes minutes on a busy machine. */
const PATIENCE_S = 60;
const ANSWERS_AGAIN_MS = 420_000;

/** Messages of a hostile client at the broker within about twenty seconds. */
const FLOOD = {
  commands: Array.from({ length: 20_000 }, (_, at) => JSON.stringify({ id: `flood-${at}`, args: {} })).join(
    '\n',
  ),
  answers: Array.from({ length: 2000 }, (_, at) =>
    JSON.stringify({ id: `${at}`, ok: true, x: 'y'.repeat(60_000) }),
  ),
  /** The largest message that does not end the connection; the agent receives it whole. */
  largest: 'z'.repeat(3.9 * MIB),
};

underSystemd(
  'memory of the unit',
  (test) => {
    test('peaks well below MemoryMax', async (kiosk, { annotate }) => {
      if (rack === null) throw new Error('the virtual cards are missing');
      copyNode();
      const meter = openMeter();
      try {
        await configure(kiosk, meter.name);
        await kiosk.systemctl('start', '--no-block', SERVICE);
        await until('it waits', async () => (await kiosk.mainPid()) > 0);
        meter.add(kiosk.machine, await kiosk.mainPid());
        await until('both lanes are live', async () =>
          (await phases(kiosk)).every((phase) => phase === 'live'),
        );
        await kiosk.untilPrograms('node', 'arecord', 'arecord', 'aplay', 'aplay');
        const atRest = meter.peak();
        const diagnosed = await kiosk.command('diagnose', 90);
        expect(diagnosed).toMatchObject({ status: 'ok' });
        const afterDiagnosis = meter.peak();
        await Promise.all([
          kiosk.publish('cmd/status', FLOOD.commands, 'lines'),
          kiosk.publish('token/res', FLOOD.answers.join('\n'), 'lines'),
          ...Array.from({ length: 10 }, () => kiosk.publish('cmd/volume', FLOOD.largest, 'whole')),
        ]);
        await until('it answers again', () => answers(kiosk), ANSWERS_AGAIN_MS);
        const peak = meter.peak();
        const mib = (bytes: number): string => (bytes / MIB).toFixed(0);
        await annotate(
          `peak ${mib(peak)} MiB of ${mib(MEMORY_MAX)}; two lanes ${mib(atRest)}, with diagnose ${mib(afterDiagnosis)}`,
        );
        expect(peak).toBeGreaterThan(60 * MIB);
        expect(peak * HEADROOM).toBeLessThanOrEqual(MEMORY_MAX);
        expect(await kiosk.show('NRestarts')).toBe('0');
      } finally {
        await kiosk.systemctl('stop', SERVICE);
        await meter.close();
      }
    });
  },
  {
    missing: missing ?? whyNoMeter(),
    shared:
      rack === null
        ? []
        : [
            { from: rack.folder, to: CARDS, writable: true },
            { from: tools, to: TOOLS },
          ],
  },
);

/**
 * Whether the agent answers a command.
 * @throws with its journal if it was restarted: the new process would wait for its own meter without a sign
 */
async function answers(kiosk: Kiosk): Promise<boolean> {
  const answer = await kiosk.command('mute', PATIENCE_S);
  if ((await kiosk.show('NRestarts')) !== '0') {
    const warnings = (await kiosk.journal('warning')).trim().split('\n');
    throw new Error(`the flood ended the agent: ${warnings.slice(-5).join(' | ')}`);
  }
  return answer !== null;
}

/** Configures two lanes with echo cancelling, each with two targets and its own card. The agent starts when it is counted. */
async function configure(kiosk: Kiosk, group: string): Promise<void> {
  const lanes = await Promise.all(
    ['left', 'right'].map(async (id) => {
      const card = await rack?.insert({ id: `${id}${kiosk.machine.suite}`, capture: { sound, loop: true } });
      const part = { device: card?.device };
      return { id, capture: part, playback: part, echo: 'cancel', targets: ['es', 'fr'] };
    }),
  );
  const wait = `until grep -q ${group} /proc/self/cgroup; do sleep 0.1; done`;
  const run = `exec ${TOOLS}/node /opt/dragoman/dragoman.mjs run --config /etc/dragoman/config.json`;
  await kiosk.edit([
    `Environment=ALSA_CONFIG_PATH=${CARDS}/alsa.conf`,
    'ExecStart=',
    `ExecStart=/bin/sh -c '${wait}; ${run}'`,
  ]);
  await kiosk.configure(...lanes);
}

async function phases(kiosk: Kiosk): Promise<(string | undefined)[]> {
  const state = (await kiosk.retained('state')) as { lanes: { phase: string }[] } | null;
  return [0, 1].map((index) => state?.lanes[index]?.phase);
}
