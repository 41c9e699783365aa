import { expect } from 'vitest';
import { until } from '../../nspawn/kiosk.ts';
import {
  configuration,
  type Fixture,
  handOver,
  LANE,
  live,
  OWNER,
  phaseOf,
  SERVICE,
  silence,
  wait,
} from '../kiosk.ts';
import { onMachine } from '../on-machine.ts';

/** Length of the measurement (ms). The kernel writes within half a minute. The journal needs up to five minutes and is flushed at the end. */
const MEASURED_MS = 200_000;
const SETTLES_MS = 30_000;
const COMMAND_EACH_MS = 60_000;
const DAY_MS = 86_400_000;
const LIMIT_MS = 1_500_000;
/**
 * Most that the agent may add to the system's own writes (MB a day). Each minute in use has a command, and a pause in which the agent
 * reports a silent microphone and its end. The measured time has 7 to 9 such log lines, with about 0.2 MB each: 600 to 800 MB.
 */
const MOST_MB_A_DAY = { rest: 200, use: 900 };
/** Plays speech for 45 s of each minute, without a command of the test, which would be logged. */
const SPEAKS =
  'while :; do head -c 2160000 /srv/goods/tones.raw | aplay -q -D hw:CARD=Mic,DEV=0 -t raw -f S16_LE -r 24000 -c 1; sleep 15; done';

// The service answers only speech, so that the lane can go to standby.
const SERVICE_WORDS = ['--translate', 'transform', '--setup-ms', '300', '--allow-host', OWNER];

onMachine(
  'writes to the card',
  ({ onStoppedDevice }) => {
    onStoppedDevice(
      'stay below the limits of a day at rest and in use',
      async (fixture, { annotate }) => {
        const { machine } = fixture;
        const without = await measure(fixture);
        await run(fixture, { ...LANE, standbyAfter: 20 });
        await until('it rests', async () => phaseOf(fixture) === 'standby', 120_000);
        await wait(SETTLES_MS);
        const rest = await measure(fixture);
        expect(phaseOf(fixture)).toBe('standby');

        await run(fixture, LANE);
        await machine.must(['systemd-run', '--quiet', '--unit=speaker', 'sh', '-c', SPEAKS]);
        await wait(SETTLES_MS);
        const use = await measure(fixture, COMMAND_EACH_MS);
        await silence(fixture);
        await annotate(
          `a day: ${inWords(without)} by the system alone, ${inWords(rest)} with the agent at rest, ` +
            `${inWords(use)} with constant speech and a command each minute`,
        );
        expect(rest.mb).toBeGreaterThan(0);
        expect(rest.mb - without.mb).toBeLessThan(MOST_MB_A_DAY.rest);
        expect(use.mb - without.mb).toBeLessThan(MOST_MB_A_DAY.use);
      },
      LIMIT_MS,
    );
  },
  { emulator: SERVICE_WORDS },
);

async function run(fixture: Fixture, lane: object): Promise<void> {
  await fixture.machine.must(['systemctl', 'stop', SERVICE]);
  await handOver(fixture, configuration(lane));
  fixture.owner.forget();
  await fixture.machine.must(['systemctl', 'start', SERVICE]);
  await live(fixture);
}

interface Written {
  readonly mb: number;
  readonly operations: number;
}

const inWords = ({ mb, operations }: Written): string => `${mb.toFixed(0)} MB in ${operations} writes`;

/** Writes to the disk by QEMU's count, scaled to a day. No commands run in the machine meanwhile. */
async function measure(
  { machine, owner }: Fixture,
  commandEachMs = Number.POSITIVE_INFINITY,
): Promise<Written> {
  await machine.sh('journalctl --sync; sync');
  const before = await machine.written();
  const startedAt = performance.now();
  let commands = 0;
  for (let left = MEASURED_MS; left > 0; left -= commandEachMs) {
    await wait(Math.min(left, commandEachMs));
    if (left <= commandEachMs) continue;
    commands += 1;
    expect(await owner.command('volume', { percent: 50 + commands })).toMatchObject({ status: 'ok' });
  }
  await machine.sh('journalctl --sync; sync');
  const aDay = DAY_MS / (performance.now() - startedAt);
  const { bytes, operations } = await machine.written();
  return {
    mb: ((bytes - before.bytes) * aDay) / 2 ** 20,
    operations: Math.round((operations - before.operations) * aDay),
  };
}
