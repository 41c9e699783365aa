/** The scenarios, in the machine's time. The host judges the results. */
import { readFileSync, writeFileSync } from 'node:fs';
import { until } from '../../../nspawn/kiosk.ts';
import { must, run, sh } from './commands.ts';
import {
  ANSWERED_WITHIN_MS,
  answers,
  type Device,
  eventsOf,
  handOver,
  interpret,
  live,
  type Outcome,
  phaseOf,
  pidOf,
  plugCards,
  ready,
  type Scenario,
  type Scenarios,
  SERVICE,
  seconds,
  silence,
  speak,
  statusOf,
  TOLD_WITHIN_MS,
  untilAnother,
  wait,
} from './device.ts';
import { memoryBound, readOnly } from './limits.ts';
import { pullCable, putCableBack, startBroker, stopBroker } from './owner.ts';
import { power } from './power.ts';
import { usbLoudspeaker } from './usb.ts';

/** The installing user: may become root, has a folder with the copied files, and an editor that fills in the configuration. */
const VISITOR = `
useradd -m -d /srv/visitor -s /bin/sh visitor; echo "visitor ALL=(ALL) NOPASSWD: ALL" >/etc/sudoers.d/visitor
cp -r /srv/goods/. /srv/visitor
printf '#!/bin/sh\\ncp /srv/visitor/filled-in "$1"\\n' >/usr/bin/editor; chmod 0755 /usr/bin/editor
`;

const versionOf = async (): Promise<string> =>
  (await sh('dpkg -s dragoman | sed -n "s/^Version: //p"')).trim();

const installation: Scenario = async (device) => {
  await plugCards();
  await sh(VISITOR);
  const { lines, configuration, folder } = device.order;
  writeFileSync('/srv/visitor/filled-in', configuration);
  const password = readFileSync(`${folder}/logins/museum.kiosk-01/mqtt-password`, 'utf8');
  const startedAt = performance.now();
  const typed: object[] = [];
  for (const { line, isAnswered } of lines) {
    const words = ['runuser', '-u', 'visitor', '--', 'sh', '-c', `cd /srv/visitor; ${line}`];
    const { code, said } = await run(words, isAnswered ? password : '');
    typed.push({ line, code, said });
    // The page does not contain the authority of the owner's broker.
    if (line.includes('sudoedit')) await handOver(device);
  }
  const tookMs = performance.now() - startedAt;
  const liveMs = await live(device);
  const version = await versionOf();
  return { found: { typed, tookS: seconds(tookMs), liveS: seconds(liveMs), version } };
};

const recording: Scenario = async (device) => {
  const startedAt = performance.now();
  const sound = await interpret(30);
  return { found: { lost: eventsOf(device, 'speech_lost', startedAt) }, sound };
};

const SNATCH = 'echo snd_aloop.0 >/sys/bus/platform/drivers/snd_aloop/unbind';
/** Another card takes the free index. */
const RETURN =
  'modprobe snd-dummy index=0 id=Other; echo snd_aloop.0 >/sys/bus/platform/drivers/snd_aloop/bind; udevadm settle';

const microphone: Scenario = async (device) => {
  const place = async () => Number(await sh('readlink /proc/asound/Mic | tr -dc 0-9'));
  const before = await place();
  await speak(60);
  await ready(device);
  await wait(2000);
  const pulledAt = performance.now();
  await sh(SNATCH);
  const missedMs = await until(
    'the missing device is reported',
    async () => statusOf(device) === 'degraded',
    TOLD_WITHIN_MS,
  );
  const reasons = device.owner.newest('status')?.['reasons'];
  await wait(4000);
  await sh(RETURN);
  const backAt = performance.now();
  const hasMoved = (await place()) !== before;
  await silence();
  await ready(device);
  const readyS = seconds(performance.now() - backAt);
  const sound = await interpret(8);
  const told = ['audio_lost', 'audio_back'].map((kind) => eventsOf(device, kind, pulledAt).length);
  await sh('rmmod snd-dummy');
  return { found: { missedS: seconds(missedMs), reasons, hasMoved, readyS, told }, sound };
};

const broker: Scenario = async (device) => {
  const { folder } = device.order;
  const sound = await interpret(20, async () => {
    await wait(5000);
    await stopBroker();
    await wait(5000);
    await startBroker(folder);
  });
  return { found: { answersS: seconds(await answers(device)) }, sound };
};

const killed: Scenario = async (device) => {
  const before = await pidOf();
  device.owner.forget();
  const killedAt = performance.now();
  await must(['systemctl', 'kill', '--signal=SIGKILL', SERVICE]);
  await untilAnother(before, 60_000);
  await live(device);
  const liveS = seconds(performance.now() - killedAt);
  return { found: { liveS }, sound: await interpret(8) };
};

const upgrade: Scenario = async (device) => {
  const config = '/etc/dragoman/config.json';
  const before = readFileSync(config, 'utf8');
  const sound = await interpret(45, async () => {
    await wait(5000);
    device.owner.forget();
    await sh('dpkg -i /srv/goods/next/dragoman_*.deb');
    await live(device);
  });
  const version = await versionOf();
  return { found: { version, isConfigurationKept: readFileSync(config, 'utf8') === before }, sound };
};

/** Kills each new agent; prints the milliseconds from the first to the last. */
const KILL_EACH = `last=0; began=
for crash in $(seq "$1"); do
  until pid=$(systemctl show --value -p MainPID dragoman); test "$pid" != 0 -a "$pid" != "$last"; do sleep 0.02; done
  kill -9 "$pid"; last=$pid; began=\${began:-$(date +%s%N)}
done; ended=$(date +%s%N); echo $(((ended - began) / 1000000))`;
const SHORT_PAUSE = `mkdir -p /run/systemd/system/dragoman.service.d
printf '[Service]\\nRestartSec=100ms\\n' >/run/systemd/system/dragoman.service.d/pause.conf; systemctl daemon-reload`;

/** Kills ten agents, each as soon as it runs. */
async function crash(device: Device): Promise<Outcome> {
  const restarts = async () =>
    Number(await must(['systemctl', 'show', '--value', '-p', 'NRestarts', SERVICE]));
  const before = await restarts();
  const tookMs = Number(await sh(KILL_EACH, '10'));
  device.owner.forget();
  const liveMs = await live(device);
  const found = { tookS: seconds(tookMs), liveS: seconds(liveMs), restarts: (await restarts()) - before };
  return { found, sound: await interpret(5) };
}

const crashes: Scenario = async (device) => {
  await sh(SHORT_PAUSE);
  try {
    return await crash(device);
  } finally {
    await sh('rm /run/systemd/system/dragoman.service.d/pause.conf; systemctl daemon-reload');
  }
};

const clock: Scenario = async (device) => {
  await must(['systemctl', 'stop', SERVICE]);
  device.owner.forget();
  const [startedAt, rightMs] = [performance.now(), Date.now()];
  const setRight = () =>
    must(['date', '--set', `@${((rightMs + performance.now() - startedAt) / 1000).toFixed(3)}`]);
  await must(['date', '--set', '2006-01-01 00:00:00']);
  await must(['systemctl', 'start', SERVICE]);
  await wait(15_000);
  const phase = phaseOf(device) ?? 'none';
  const journal = await sh('journalctl -o cat --no-pager -u dragoman -n 20');
  await setRight();
  const liveMs = await live(device);
  const before = await pidOf();
  await must(['date', '--set', '+1 day']);
  await wait(5000);
  await setRight();
  await wait(5000);
  const sound = await interpret(5);
  const isSame = (await pidOf()) === before;
  return { found: { phase, isClockTold: /clock/.test(journal), liveS: seconds(liveMs), isSame }, sound };
};

const fullDisk: Scenario = async (device) => {
  await sh('dd if=/dev/zero of=/var/fill bs=1M 2>/dev/null || true; sync');
  const available = (await sh('df --output=avail / | tail -1')).trim();
  const command = await device.owner.command('volume', { percent: 100 }, ANSWERED_WITHIN_MS);
  device.owner.forget();
  await must(['systemctl', 'restart', SERVICE]);
  const liveMs = await live(device);
  await answers(device);
  const sound = await interpret(5);
  await must(['rm', '/var/fill']);
  return { found: { available, command: command?.['status'], liveS: seconds(liveMs) }, sound };
};

const hung: Scenario = async (device) => {
  const before = await pidOf();
  await must(['systemctl', 'kill', '--kill-whom=main', '--signal=SIGSTOP', SERVICE]);
  const hungAt = performance.now();
  await untilAnother(before, 150_000);
  const anotherS = seconds(performance.now() - hungAt);
  device.owner.forget();
  await live(device);
  const liveS = seconds(performance.now() - hungAt);
  return { found: { anotherS, liveS }, sound: await interpret(5) };
};

const networkForSeconds: Scenario = async (device) => {
  const startedAt = performance.now();
  const sound = await interpret(40, async () => {
    await wait(8000);
    await pullCable();
    await wait(8000);
    await putCableBack();
  });
  await live(device);
  await answers(device);
  return { found: { lost: eventsOf(device, 'speech_lost', startedAt) }, sound };
};

/** Longest wait (ms): without speech the agent retries the broker after up to two minutes, and the service after up to one. */
const LONG_WAITS_MS = 240_000;

const networkForMinutes: Scenario = async (device) => {
  const cutAt = performance.now();
  await pullCable();
  await speak(55);
  const lostMs = await until('the status `lost`', async () => statusOf(device) === 'lost', 120_000);
  await wait(180_000 - (performance.now() - cutAt));
  await putCableBack();
  const backAt = performance.now();
  const isBack = async (): Promise<boolean> => phaseOf(device) === 'live' && statusOf(device) !== 'lost';
  await until('it is live', isBack, LONG_WAITS_MS);
  const liveS = seconds(performance.now() - backAt);
  const told = () => eventsOf(device, 'speech_lost', cutAt);
  await until('the report of the loss', async () => told().length > 0, TOLD_WITHIN_MS);
  const toldS = seconds(told().reduce((sum, { lost_ms }) => sum + Number(lost_ms), 0));
  await answers(device);
  return { found: { lostS: seconds(lostMs), liveS, toldS }, sound: await interpret(10) };
};

export const scenarios: Scenarios = {
  installation,
  recording,
  microphone,
  broker,
  killed,
  upgrade,
  crashes,
  clock,
  hung,
  'full-disk': fullDisk,
  'crashes-with-pause': crash,
  'network-8s': networkForSeconds,
  'network-3min': networkForMinutes,
  power,
  'memory-bound': memoryBound,
  'read-only': readOnly,
  'usb-loudspeaker': usbLoudspeaker,
};
