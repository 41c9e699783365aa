import { readTemperature } from '../../adapters/kernel.ts';
import type { CheckName } from '../../protocol/mqtt/diagnose.ts';
import { examineAgent, judgeItself } from './checks/agent/agent-check.ts';
import { judgeRunningCapture, LISTEN_MS } from './checks/capture/running-capture.ts';
import { judgeClock } from './checks/clock/clock-rules.ts';
import {
  examineConfiguration,
  judgeRunningConfiguration,
} from './checks/configuration/configuration-check.ts';
import { judgeInvalid } from './checks/configuration/configuration-rules.ts';
import { placesOf, readDisk } from './checks/disk/disk-facts.ts';
import { judgeDisk } from './checks/disk/disk-rules.ts';
import { judgeTrial } from './checks/isolation/isolation-check.ts';
import { NOT_TRIED } from './checks/isolation/isolation-rules.ts';
import { readMemory } from './checks/memory/memory-facts.ts';
import { judgeMemory } from './checks/memory/memory-rules.ts';
import { checkMixers } from './checks/mixer/mixer-check.ts';
import { judgePermissions } from './checks/permissions/permissions-rules.ts';
import { judgePlaybackOf } from './checks/playback/running-playback.ts';
import { readPower } from './checks/power/power-facts.ts';
import { judgePower } from './checks/power/power-rules.ts';
import { judgeUnit } from './checks/service/service-rules.ts';
import { readUnit } from './checks/service/unit-facts.ts';
import { judgeTemperature } from './checks/temperature/temperature-rules.ts';
import { judgeLanes } from './inside.ts';
import type { Outside } from './outside.ts';
import { combine } from './report/finding.ts';
import { headsetsOf, wantedDevices } from './sound-devices/wanted-devices.ts';
import { configured, type ListedCheck, onMachine, UNUSABLE, within } from './way.ts';

const QUICK_MS = 5000;
const MACHINE_MS = 20_000;
/** Time limit of the sandbox check (ms): it asks systemd, and the kernel for each file. */
const SANDBOX_MS = 30_000;
const BROKER_MS = 40_000;
const BACKEND_MS = BROKER_MS + 15_000;
const STREAM_MS = BACKEND_MS + 25_000;
const CLOCK_MS = STREAM_MS + 1000;
const LANE_MS = 30_000;

/** Microphone and loudspeaker are tested lane by lane; a running agent is asked through the broker. */
const soundMs = ({ configured, around }: Outside): number =>
  LANE_MS * (configured?.config.lanes.length ?? 1) + (around.agent === null ? 0 : BROKER_MS);

/**
 * In the order of the report. A new check needs its name in `CHECKS`, a folder of that name in `checks/`, and its entry here. Some checks
 * get their facts alike in both places: `onMachine`.
 */
export const CHECK_LIST: Readonly<Record<CheckName, ListedCheck>> = {
  configuration: {
    outside: within(SANDBOX_MS, ({ file, problems, configured, around, machine }) =>
      configured === null
        ? judgeInvalid(file, problems)
        : examineConfiguration(file, configured.config, around.agent, machine),
    ),
    inside: within(QUICK_MS, ({ config, machine }) => judgeRunningConfiguration(config, machine)),
  },
  agent: {
    outside: within(BROKER_MS, ({ around, configured }) =>
      examineAgent(around, configured?.config ?? null, configured?.askStatus ?? (async () => null)),
    ),
    inside: within(QUICK_MS, ({ own }) => judgeItself(own.status(), own.version)),
  },
  broker: {
    outside: configured(BROKER_MS, ({ servers }) => servers.orAgents('broker', servers.judgeBroker)),
    inside: within(BROKER_MS, ({ servers }) => servers.judgeBroker()),
  },
  isolation: {
    outside: configured(BROKER_MS, async ({ servers, isolation }, { tells }) =>
      judgeTrial(isolation, await servers.join(), tells('broker')),
    ),
    inside: within(BROKER_MS, () => NOT_TRIED),
  },
  backend: {
    outside: configured(BACKEND_MS, ({ servers }) => servers.orAgents('backend', servers.judgeBackend)),
    inside: within(BACKEND_MS, ({ servers }) => servers.judgeBackend()),
  },
  stream: {
    outside: configured(STREAM_MS, ({ servers }) => servers.orAgents('stream', servers.judgeStreamHost)),
    inside: within(STREAM_MS, ({ servers }) => servers.judgeStreamHost()),
  },
  clock: {
    outside: within(CLOCK_MS, ({ clock, configured }) =>
      configured === null
        ? judgeClock(clock.wall(), [])
        : configured.servers.orAgents('clock', configured.servers.judgeClock),
    ),
    inside: within(CLOCK_MS, ({ servers }) => servers.judgeClock()),
  },
  capture: {
    outside: configured(soundMs, ({ sound }) => sound.capture()),
    inside: within(LISTEN_MS + QUICK_MS, (inside) =>
      judgeLanes(inside, (lane, config) => judgeRunningCapture(lane, config, inside.own)),
    ),
  },
  playback: {
    outside: configured(soundMs, ({ sound }) => sound.playback()),
    inside: within(QUICK_MS, (inside) => judgeLanes(inside, judgePlaybackOf)),
  },
  mixer: onMachine(MACHINE_MS, (machine, config) =>
    config === null ? UNUSABLE : checkMixers(machine, wantedDevices(config), headsetsOf(config)),
  ),
  permissions: onMachine(MACHINE_MS, (machine, config) =>
    config === null ? UNUSABLE : judgePermissions(machine.soundAccess(), wantedDevices(config)),
  ),
  disk: onMachine(MACHINE_MS, (machine, config) =>
    combine(placesOf(machine, config).map((place) => judgeDisk(readDisk(place)))),
  ),
  memory: onMachine(MACHINE_MS, ({ kernel }) => judgeMemory(readMemory(kernel))),
  service: onMachine(MACHINE_MS, async ({ run }, config) =>
    judgeUnit(await readUnit(run), config !== null && wantedDevices(config).length > 0),
  ),
  power: onMachine(MACHINE_MS, async ({ kernel, run }) => judgePower(await readPower(kernel, run))),
  temperature: onMachine(MACHINE_MS, ({ kernel }) => judgeTemperature(readTemperature(kernel))),
};
