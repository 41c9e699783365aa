import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { until } from '../../nspawn/kiosk.ts';
import { growthBytes, judgeVisits, readMessages } from '../day/figures.ts';
import { type Peers, startPeers } from '../day/peers.ts';
import { configuration, inSeconds, inWords, LANE, plugCards, SERVICE } from '../kiosk.ts';
import { type Machine, switchOn } from '../machine.ts';
import { type Judgement, RATE_HZ, TONE_MS } from '../tones.ts';

const testbed = inject('testbed');
const HOURS = Number(process.env['DRAGOMAN_DEVICE_HOURS'] ?? 24);
const SESSION_S = 600;
/** Visits: speech every ten minutes. */
const [VISITS_AN_HOUR, SPOKEN_S, LISTENED_S] = [6, 30, 45];
const VISIT_BYTES = LISTENED_S * RATE_HZ * 2;
const REST_S = Math.min(1800, HOURS * 3600);
/** Longest host time for an hour of the machine (ms); a busy host takes long. */
const HOUR_LIMIT_MS = 1_500_000;
const START_LIMIT_MS = 600_000;
const LIMIT_MS = START_LIMIT_MS + (HOURS + 1) * HOUR_LIMIT_MS;
const HERE = '127.0.0.1';
const MOST_GROWTH_MB = 25;
/** Most that the agent may add to the system's own writes (MB a day). */
const MOST_MB_A_DAY = { rest: 200, use: 300 };
/**
 * Events of a normal day. A loop card without a player delivers digital silence, unlike a room, which the agent reports. The service
 * echoes its input: during speech the loudspeaker's sound resembles the microphone's, like a real echo.
 */
const USUAL = [
  'session_started',
  'session_ended',
  'rollover',
  'capture_problem',
  'capture_problem_over',
  'echo_detected',
];

/**
 * While a machine with virtual time waits for a disk of the host, its time jumps by minutes. Therefore it writes to a disk in its
 * memory, with a journalling file system like a card's, and files are read into the cache first.
 */
const OWN_DISK = `
modprobe zram; echo 600M >/sys/block/zram0/disksize; mke2fs -q -t ext4 /dev/zram0
mount /dev/zram0 /mnt; cp -a /var/. /mnt; umount /mnt; mount /dev/zram0 /var; systemctl restart systemd-journald
find /usr /etc -xdev -type f -exec cat {} + >/dev/null
`;

/** Speaks, and writes the loudspeaker's sound to a virtio port, with the same length each time. */
const VISITOR = `
visits=$1; raw='-t raw -f S16_LE -r 24000 -c 1 --buffer-size=48000'
for visit in $(seq "$visits"); do
  began=$(date +%s)
  arecord -q -D hw:CARD=Speaker,DEV=1 $raw -d ${LISTENED_S} >/run/said.raw &
  sleep 2
  head -c ${SPOKEN_S * RATE_HZ * 2} /srv/goods/tones.raw | aplay -q -D hw:CARD=Mic,DEV=0 $raw
  wait
  cat /run/said.raw >/dev/virtio-ports/heard
  sleep $((began + 3600 / ${VISITS_AN_HOUR} - $(date +%s)))
done
`;

describe(`a day in the machine's own time, Debian ${testbed.suite}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-day-'));
  const virtioPorts = { heard: join(folder, 'heard'), told: join(folder, 'told') };
  let machine: Machine | undefined;
  let peers: Peers | undefined;

  beforeAll(async () => {
    if (testbed.missing !== null) return;
    const lifeLimitMs = LIMIT_MS;
    machine = await switchOn({ ...testbed.hardware, ports: {}, time: 'virtual', virtioPorts, lifeLimitMs });
  }, START_LIMIT_MS);
  afterAll(async () => {
    await machine?.stop();
    peers?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const title = `interprets for ${HOURS} h without loss, memory growth or excessive writes`;
  const name = testbed.missing === null ? title : `${title}: skipped, ${testbed.missing}`;
  it.skipIf(testbed.missing !== null)(name, { timeout: LIMIT_MS }, async ({ annotate }) => {
    if (testbed.missing !== null || machine === undefined) throw new Error('there is no machine');
    const open = machine;
    await slowly(open, 'mkdir -p /srv/goods; tar -xf /dev/vdb -C /srv/goods');
    await plugCards({ machine: open });
    await slowly(
      open,
      'cd /srv/goods; dpkg -i dragoman-node_*.deb dragoman_*.deb dragoman-backend_*.deb dragoman-emulator_*.deb; systemctl disable --now dragoman-backend',
    );
    await slowly(open, OWN_DISK);
    const stop = () => open.must(['systemctl', 'stop', SERVICE]);
    await stop();
    const alone = await measure(open, () => sleepInIt(open, REST_S));

    peers = await startPeers(open, testbed.bundles, 'told', SESSION_S);
    await configure(open, peers, { standbyAfter: 20 });
    await open.must(['systemctl', 'start', SERVICE]);
    await live(virtioPorts.told);
    await sleepInIt(open, 60);
    expect(readFileSync(virtioPorts.told, 'utf8')).toContain('\\"phase\\":\\"standby\\"');
    const rest = await measure(open, () => sleepInIt(open, REST_S));

    await stop();
    // The service echoes speech but not silence, because it speaks in sentences. A stream without pauses would lag by the 20 s of a
    // rollover, and run 0.3 % faster for hours to catch up.
    await peers.serve('echo');
    await configure(open, peers, {});
    const toldBefore = statSync(virtioPorts.told).size;
    await open.must(['systemctl', 'start', SERVICE]);
    await live(virtioPorts.told, toldBefore);
    await sleepInIt(open, 60);
    const startedAt = performance.now();
    const visits = Math.max(1, Math.round(HOURS * VISITS_AN_HOUR));
    const use = await measure(open, async () => {
      const end = (await clockOf(open)) + HOURS * 3600;
      const visitor = ['sh', '-euc', VISITOR, 'sh', String(visits)];
      await open.must(['systemd-run', '--quiet', '--unit=visitor', ...visitor]);
      const isOver = async () => statSync(virtioPorts.heard).size >= visits * VISIT_BYTES;
      await until('all visits are over', isOver, (HOURS + 1) * HOUR_LIMIT_MS);
      await sleepInIt(open, end - (await clockOf(open)));
    });
    const tookMs = performance.now() - startedAt;

    const told = readMessages(readFileSync(virtioPorts.told, 'utf8').slice(toldBefore));
    const judged = judgeVisits(readFileSync(virtioPorts.heard), LISTENED_S);
    const worst = [...judged].sort((a, b) => flawsOf(b) - flawsOf(a))[0];
    const last = told.health.at(-1);
    const lane = last?.lanes[0];
    const growthMb = growthBytes(told.health) / 2 ** 20;
    await annotate(
      [
        `${(use.seconds / 3600).toFixed(2)} h in ${inSeconds(tookMs)}: ${judged.length} visits, ${Math.max(...judged.map(({ missing }) => missing))} tones missing at most`,
        `${JSON.stringify(told.events)}, ${lane?.rollovers} rollovers, ${last?.reconnects} reconnects`,
        `RSS ${((last?.rss_bytes ?? 0) / 2 ** 20).toFixed(0)} MB, ${growthMb.toFixed(1)} MB more than at the beginning; ${last?.cpu_seconds} s of CPU`,
        `written in a day: ${asDay(alone)} by the system alone, ${asDay(rest)} with the agent at rest, ${asDay(use)} in use`,
        `the agent's part of it: ${(use.agentMb * (86_400 / use.seconds)).toFixed(1)} MB; its lines in the journal: ${(use.journalMb * (86_400 / use.seconds)).toFixed(2)} MB`,
        `worst visit: ${worst === undefined ? 'none' : inWords(worst)}`,
      ].join('; '),
    );
    expect(judged).toHaveLength(visits);
    for (const visit of judged) {
      expect(visit, inWords(visit)).toMatchObject({ missing: 0, outOfOrder: 0 });
      expect(visit.tones.filter((tone) => tone >= 0).length).toBeGreaterThanOrEqual(
        Math.floor((SPOKEN_S * 1000) / TONE_MS),
      );
    }
    expect(lane).toMatchObject({ speech_lost_ms: 0, xruns: 0, capture_restarts: 0, playback_restarts: 0 });
    expect(last).toMatchObject({ reconnects: 0, outbox: { dropped: 0 } });
    expect(new Set(told.health.map(({ boot_id }) => boot_id)).size).toBe(1);
    expect(told.health.length).toBeGreaterThan(HOURS * 60 - 3);
    expect(Object.keys(told.events).filter((kind) => !USUAL.includes(kind))).toEqual([]);
    expect(lane?.rollovers).toBeGreaterThanOrEqual(Math.floor((use.seconds - 60) / SESSION_S));
    expect(told.events['session_started']).toBe((lane?.rollovers ?? 0) + 1);
    expect(told.answers.length).toBeGreaterThanOrEqual(Math.floor(use.seconds / 900));
    expect(told.answers.filter((status) => status !== 'ok')).toEqual([]);
    expect(growthMb).toBeLessThan(MOST_GROWTH_MB);
    expect(rest.mbADay - alone.mbADay).toBeLessThan(MOST_MB_A_DAY.rest);
    expect(use.mbADay - alone.mbADay).toBeLessThan(MOST_MB_A_DAY.use);
  });
});

const flawsOf = ({ missing, outOfOrder, phaseJumps }: Judgement): number => missing + outOfOrder + phaseJumps;

/** Runs a script that may take long on a busy machine. */
const slowly = (machine: Machine, script: string): Promise<string> =>
  machine.must(['sh', '-euc', script], '', START_LIMIT_MS);

async function configure(machine: Machine, peers: Peers, lane: object): Promise<void> {
  await machine.write('/etc/dragoman/broker-ca.crt', peers.handed('broker-ca.crt'));
  await machine.write('/etc/dragoman/secrets/mqtt-password', peers.handed('mqtt-password'), '0640');
  await machine.must(['chgrp', 'dragoman', '/etc/dragoman/secrets/mqtt-password']);
  await machine.write('/etc/dragoman/config.json', configuration({ ...LANE, ...lane }, {}, HERE));
}

/** Waits until the agent reports a live lane, after the first `after` characters. */
const live = (told: string, after = 0): Promise<number> =>
  until(
    'it is live',
    async () => readFileSync(told, 'utf8').slice(after).includes('\\"phase\\":\\"live\\"'),
    START_LIMIT_MS,
  );

/** Sleeps for seconds of the machine's time. */
async function sleepInIt(machine: Machine, seconds: number): Promise<void> {
  const end = (await clockOf(machine)) + seconds;
  while ((await clockOf(machine)) < end) await new Promise((resolve) => setTimeout(resolve, 500));
}

const clockOf = async (machine: Machine): Promise<number> => Number(await machine.must(['date', '+%s.%N']));

interface Written {
  readonly seconds: number;
  readonly mbADay: number;
  readonly writesADay: number;
  /** Written by the agent itself. */
  readonly agentMb: number;
  /** Size of its lines in the journal, as text. */
  readonly journalMb: number;
}

/** Measures writes to its memory disk; flushes journal and caches at the end. */
async function measure(machine: Machine, meanwhile: () => Promise<void>): Promise<Written> {
  const begin = await writtenBy(machine);
  await meanwhile();
  const end = await writtenBy(machine);
  const seconds = end.at - begin.at;
  const mb = (bytes: number): number => bytes / 2 ** 20;
  return {
    seconds,
    mbADay: mb(end.bytes - begin.bytes) * (86_400 / seconds),
    writesADay: (end.operations - begin.operations) * (86_400 / seconds),
    agentMb: mb(end.agent - begin.agent),
    journalMb: mb(end.journal - begin.journal),
  };
}

async function writtenBy(machine: Machine) {
  await machine.sh('journalctl --sync; sync');
  const agent = await machine.sh(
    'pid=$(systemctl show --value -p MainPID dragoman); test "$pid" = 0 || sed -n "s/^write_bytes: //p" "/proc/$pid/io"',
  );
  const journal = await machine.sh('journalctl -q -u dragoman -o cat | wc -c');
  // Fields: writes, sectors written.
  const disk = await machine.sh("awk '{ print $5, $7 }' /sys/block/zram0/stat");
  const [operations = 0, sectors = 0] = disk.split(' ').map(Number);
  const counts = { agent: Number(agent), journal: Number(journal), bytes: sectors * 512, operations };
  return { at: await clockOf(machine), ...counts };
}

const asDay = ({ mbADay, writesADay }: Written): string =>
  `${mbADay.toFixed(0)} MB in ${writesADay.toFixed(0)} writes`;
