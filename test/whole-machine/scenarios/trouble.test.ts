import { expect } from 'vitest';
import { until } from '../../nspawn/kiosk.ts';
import {
  eventsOf,
  expectWhole,
  type Fixture,
  inSeconds,
  interpret,
  inWords,
  live,
  phaseOf,
  pidOf,
  SERVICE,
  speak,
  statusOf,
  wait,
} from '../kiosk.ts';
import { onMachine } from '../on-machine.ts';
import { timed } from '../slowness.ts';

const start = ({ machine }: Fixture) => machine.must(['systemctl', 'start', SERVICE]);
const answers = async ({ owner }: Fixture) => (await owner.command('status', {}, 4000))?.['status'] === 'ok';
/** Speaks, expects whole sound, and returns the judgement. */
const interprets = async (fixture: Fixture): Promise<string> => {
  const { ended } = await interpret(fixture, 10);
  expectWhole(ended);
  return inWords(ended);
};

/** RestartSec of the unit, and the time that systemd needs in addition (ms). */
const [UNIT_PAUSE_MS, MOST_START_MS] = [2000, 2000];

/** Kills each new agent, this many times, by a script in the machine. @returns the time from the first to the last */
async function crash(fixture: Fixture, times: number): Promise<{ tookMs: number; words: string }> {
  const { machine, owner } = fixture;
  const restarts = async () =>
    Number(await machine.must(['systemctl', 'show', '--value', '-p', 'NRestarts', SERVICE]));
  const before = await restarts();
  const killEach = `last=0; began=
    for crash in $(seq "$1"); do
      until pid=$(systemctl show --value -p MainPID dragoman); test "$pid" != 0 -a "$pid" != "$last"; do sleep 0.02; done
      kill -9 "$pid"; last=$pid; began=\${began:-$(date +%s%N)}
    done; ended=$(date +%s%N); echo $(((ended - began) / 1000000))`;
  const tookMs = Number(await machine.sh(killEach, String(times)));
  owner.forget();
  const liveMs = await live(fixture);
  // systemd has not given up, and has restarted the agent after each kill.
  expect((await restarts()) - before).toBe(times);
  return { tookMs, words: `live ${inSeconds(liveMs)} after the last` };
}

onMachine('a device in trouble', ({ onDevice, onStoppedDevice }) => {
  onDevice(
    'reports the lost speech after a network outage of three minutes',
    async (fixture, { annotate }) => {
      const { machine, owner } = fixture;
      await machine.monitor('set_link wire off');
      const cutAt = performance.now();
      await speak(fixture, 55);
      const lost = await until('the status `lost`', async () => statusOf(fixture) === 'lost', 120_000);
      await wait(180_000 - (performance.now() - cutAt));
      await machine.monitor('set_link wire on');
      const back = performance.now();
      await until(
        'it is live',
        async () => phaseOf(fixture) === 'live' && statusOf(fixture) !== 'lost',
        120_000,
      );
      const liveMs = performance.now() - back;
      const lostSoFar = () =>
        eventsOf(fixture, 'speech_lost', cutAt).reduce((sum, { lost_ms }) => sum + Number(lost_ms), 0);
      await until('the report of the loss', async () => lostSoFar() > 10_000, 60_000);
      await until('it answers', () => answers(fixture), 60_000);
      const lostMs = lostSoFar();
      expect(lostMs).toBeLessThan(60_000);
      await annotate(
        `lost for the broker after ${inSeconds(lost)}; live ${inSeconds(liveMs)} after the return; ` +
          `of 55 s of speech ${inSeconds(lostMs)} reported as lost; then ${await interprets(fixture)}`,
      );
      owner.forget();
    },
  );

  onDevice('restarts an agent that hangs', async (fixture, { annotate }) => {
    const { machine, owner } = fixture;
    const before = await pidOf(fixture);
    await machine.must(['systemctl', 'kill', '--kill-whom=main', '--signal=SIGSTOP', SERVICE]);
    const hungAt = performance.now();
    // Clears the messages before the next agent sends its first one.
    owner.forget();
    await until('another process', async () => ![0, before].includes(await pidOf(fixture)), 150_000);
    const restarted = performance.now() - hungAt;
    await live(fixture);
    await annotate(
      `another one after ${inSeconds(restarted)}, live after ${inSeconds(performance.now() - hungAt)}`,
    );
  });

  onDevice('survives ten crashes with the unit’s shortest pause', async (fixture, { annotate }) => {
    const crashes = await crash(fixture, 10);
    // Each agent is killed only after systemd has restarted it, with this pause.
    expect(crashes.tookMs).toBeGreaterThan(9 * UNIT_PAUSE_MS);
    timed(() => expect(crashes.tookMs).toBeLessThan(9 * (UNIT_PAUSE_MS + MOST_START_MS)));
    await annotate(`ten within ${inSeconds(crashes.tookMs)}; ${crashes.words}`);
  });

  onDevice(
    'survives ten crashes in ten seconds, with a shorter pause than the unit’s',
    async (fixture, { annotate }) => {
      const { machine } = fixture;
      await machine.write(
        '/run/systemd/system/dragoman.service.d/pause.conf',
        '[Service]\nRestartSec=100ms\n',
      );
      await machine.must(['systemctl', 'daemon-reload']);
      const crashes = await crash(fixture, 10);
      timed(() => expect(crashes.tookMs).toBeLessThan(10_000));
      await machine.must(['rm', '/run/systemd/system/dragoman.service.d/pause.conf']);
      await machine.must(['systemctl', 'daemon-reload']);
      await annotate(`ten within ${inSeconds(crashes.tookMs)}; ${crashes.words}`);
    },
  );

  onDevice('answers again after a leak up to the memory limit', async (fixture, { annotate }) => {
    const { machine, owner } = fixture;
    const before = await pidOf(fixture);
    owner.forget();
    const leakedAt = performance.now();
    // Another process of the unit uses all available memory: the limit counts all processes of the unit.
    await machine.sh(
      'echo $$ >/sys/fs/cgroup/system.slice/dragoman.service/cgroup.procs; (tail /dev/zero || true) & wait',
    );
    const countEnded = () =>
      machine.sh('journalctl -k --no-pager | grep -c "Memory cgroup out of memory" || true');
    await until('the kernel ends a process', async () => Number(await countEnded()) > 0, 60_000);
    await until('it runs', async () => (await pidOf(fixture)) !== 0, 60_000);
    const isSame = (await pidOf(fixture)) === before;
    if (!isSame) await live(fixture);
    await until('it answers', () => answers(fixture), 60_000);
    await annotate(
      `${isSame ? 'the agent stayed' : 'the agent was started again'}; it answers ${inSeconds(performance.now() - leakedAt)} after that`,
    );
    // The sound afterwards is judged in virtual time: here Node still compiles, and the emulated cards have underruns.
  });

  onStoppedDevice(
    'waits while its clock is 20 years behind, and interprets once it is set',
    async (fixture, { annotate }) => {
      const { machine } = fixture;
      await machine.must(['date', '--set', '2006-01-01 00:00:00']);
      await start(fixture);
      const told = () => machine.sh('journalctl -o cat --no-pager -u dragoman');
      await until('the report', async () => /clock/.test(await told()), 120_000);
      await wait(15_000);
      expect(phaseOf(fixture)).toBeUndefined();
      await machine.setClock();
      const took = await live(fixture);
      await annotate(`live ${inSeconds(took)} after the clock was set`);
      const before = await pidOf(fixture);
      await machine.must(['date', '--set', '+1 day']);
      await wait(5000);
      await machine.setClock();
      await wait(5000);
      expect(await interprets(fixture)).toContain('tones');
      expect(await pidOf(fixture)).toBe(before);
    },
  );

  onStoppedDevice(
    'sets its clock from the service when no other source does',
    async (fixture, { annotate }) => {
      const { machine } = fixture;
      await machine.must(['systemctl', 'enable', '--now', 'dragoman-clock.path']);
      await machine.must(['date', '--set', '2006-01-01 00:00:00']);
      await start(fixture);
      const took = await live(fixture, 180_000);
      const off = Math.abs(Number(await machine.must(['date', '+%s'])) - Date.now() / 1000);
      // The clock comes from an answer of the service, which may have been delayed.
      timed(() => expect(off).toBeLessThan(30));
      expect(off).toBeLessThan(600);
      await annotate(`live after ${inSeconds(took)} with a clock that is ${off.toFixed(0)} s off`);
    },
  );

  onDevice('interprets and restarts with a full disk', async (fixture, { annotate }) => {
    const { machine, owner } = fixture;
    await machine.sh(
      'fallocate -l 4G /var/fill 2>/dev/null || dd if=/dev/zero of=/var/fill bs=1M 2>/dev/null || true; sync',
    );
    expect((await machine.sh('df --output=avail / | tail -1')).trim()).toBe('0');
    expect(await owner.command('volume', { percent: 70 })).toMatchObject({ status: 'ok' });
    const first = await interprets(fixture);
    owner.forget();
    await machine.must(['systemctl', 'restart', SERVICE]);
    const took = await live(fixture);
    await until('it answers', () => answers(fixture), 60_000);
    await annotate(`${first}; restarted, live after ${inSeconds(took)}`);
    await machine.must(['rm', '/var/fill']);
  });

  onDevice('interprets and restarts with a read-only disk', async (fixture, { annotate }) => {
    const { machine, owner } = fixture;
    await machine.sh('echo u >/proc/sysrq-trigger; sleep 1');
    expect((await machine.run(['touch', '/var/probe'])).code).not.toBe(0);
    const first = await interprets(fixture);
    expect(await owner.command('volume', { percent: 60 })).toMatchObject({ status: 'ok' });
    await machine.must(['systemctl', 'kill', '--signal=SIGKILL', SERVICE]);
    owner.forget();
    const took = await live(fixture);
    await until('it answers', () => answers(fixture), 60_000);
    await annotate(`${first}; killed, live after ${inSeconds(took)}`);
  });
});
