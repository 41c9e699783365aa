/** Limits of the kernel: memory above the unit's limit, and a read-only disk. */
import { until } from '../../../nspawn/kiosk.ts';
import { must, run, sh } from './commands.ts';
import {
  ANSWERED_WITHIN_MS,
  answers,
  interpret,
  live,
  pidOf,
  type Scenario,
  SERVICE,
  seconds,
  TOLD_WITHIN_MS,
} from './device.ts';

/** Another process of the unit that uses all available memory: the limit counts all processes of the unit. */
const LEAK =
  'echo $$ >/sys/fs/cgroup/system.slice/dragoman.service/cgroup.procs; (tail /dev/zero || true) & wait';
const COUNT_ENDED = 'journalctl -k --no-pager | grep -c "Memory cgroup out of memory" || true';

export const memoryBound: Scenario = async (device) => {
  const before = await pidOf();
  const bound = (await must(['systemctl', 'show', '--value', '-p', 'MemoryMax', SERVICE])).trim();
  device.owner.forget();
  const leakedAt = performance.now();
  // The process may be ended with the unit.
  await run(['sh', '-euc', LEAK]);
  await until('the kernel ends a process', async () => Number(await sh(COUNT_ENDED)) > 0, TOLD_WITHIN_MS);
  await until('it runs', async () => (await pidOf()) !== 0, 60_000);
  const isSame = (await pidOf()) === before;
  if (!isSame) await live(device);
  await answers(device);
  const answersS = seconds(performance.now() - leakedAt);
  return { found: { bound, isSame, answersS }, sound: await interpret(5) };
};

export const readOnly: Scenario = async (device) => {
  await sh('echo u >/proc/sysrq-trigger; sleep 1');
  try {
    const isRefused = (await run(['touch', '/var/probe'])).code !== 0;
    const asked = await device.owner.command('volume', { percent: 100 }, ANSWERED_WITHIN_MS);
    const command = asked?.['status'];
    device.owner.forget();
    const killedAt = performance.now();
    await must(['systemctl', 'kill', '--signal=SIGKILL', SERVICE]);
    await live(device);
    const liveS = seconds(performance.now() - killedAt);
    await answers(device);
    return { found: { isRefused, command, liveS }, sound: await interpret(5) };
  } finally {
    await must(['mount', '-o', 'remount,rw', '/']);
  }
};
