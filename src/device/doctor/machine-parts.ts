import { dirname, resolve } from 'node:path';
import { controlDevice } from '../../adapters/audio/alsa/mixer.ts';
import { parseDeviceName } from '../../adapters/audio/cards/device-name.ts';
import { reasonIn } from '../../adapters/audio/child/own-words.ts';
import { KERNEL_FOLDERS, readTemperature } from '../../adapters/kernel.ts';
import { createProgramRunner } from '../../adapters/program-runner.ts';
import { parseMixer } from '../../core/mixer/mixer-controls.ts';
import type { MachineParts, RunProgram } from '../../ports/machine.ts';
import type { Config } from '../../protocol/config.ts';
import { readDisk, readMemory, readPower } from './checks/disk/disk-facts.ts';
import {
  type DiskFacts,
  judgeDisk,
  judgeMemory,
  judgePower,
  judgeTemperature,
} from './checks/disk/disk-rules.ts';
import { judgeMissingMixer, judgeMixer } from './checks/mixer/mixer-rules.ts';
import { judgePermissions, type WantedDevice } from './checks/permissions/permissions-rules.ts';
import { readSoundAccess } from './checks/permissions/sound-access.ts';
import { judgeUnit, parseProperties, UNIT, UNIT_PROPERTIES } from './checks/service/service-rules.ts';
import { type Check, deviceCheck } from './report/check.ts';
import { combine, type Outcome, skipped } from './report/finding.ts';

export function createMachineParts(env: Readonly<Record<string, string | undefined>>): MachineParts {
  return {
    env,
    kernel: KERNEL_FOLDERS,
    run: createProgramRunner(env),
    soundAccess: () => readSoundAccess(),
  };
}

const LIMIT_MS = 20_000;

/** All checks without network and sound. */
export function machineChecks(parts: MachineParts, config: Config | null): Check[] {
  const { kernel, run } = parts;
  const devices = config === null ? [] : wantedDevices(config);
  const unknown = skipped('the configuration cannot be used');
  return [
    deviceCheck('mixer', LIMIT_MS, () => (config === null ? unknown : checkMixers(parts, devices))),
    deviceCheck('permissions', LIMIT_MS, () =>
      config === null ? unknown : judgePermissions(parts.soundAccess(), devices),
    ),
    deviceCheck('disk', LIMIT_MS, () =>
      combine(places(parts, config).map((place) => judgeDisk(readDisk(place)))),
    ),
    deviceCheck('memory', LIMIT_MS, () => judgeMemory(readMemory(kernel))),
    deviceCheck('service', LIMIT_MS, () => checkService(run, devices.length > 0)),
    deviceCheck('power', LIMIT_MS, async () => judgePower(await readPower(kernel, run))),
    deviceCheck('temperature', LIMIT_MS, () => judgeTemperature(readTemperature(kernel))),
  ];
}

/** The ALSA devices of the lanes. */
export function wantedDevices(config: Config): (WantedDevice & { direction: 'capture' | 'playback' })[] {
  return config.lanes.flatMap((lane, index) =>
    (['capture', 'playback'] as const).flatMap((direction) => {
      const part = lane[direction];
      if (!('device' in part)) return [];
      const { device } = part;
      const card = parseDeviceName(device)?.card ?? null;
      return [{ key: `lanes[${index}].${direction}.device`, device, card, direction }];
    }),
  );
}

async function checkMixers(
  { run }: MachineParts,
  devices: ReturnType<typeof wantedDevices>,
): Promise<Outcome> {
  if (devices.length === 0) return skipped('no lane uses a sound card');
  const seen = new Set<string>();
  const outcomes: Outcome[] = [];
  for (const { device, direction } of devices) {
    const control = controlDevice(device);
    if (seen.has(`${direction} ${control ?? device}`)) continue;
    seen.add(`${direction} ${control ?? device}`);
    const answer = control === null ? null : await run('amixer', ['-D', control, 'scontents']);
    if (control !== null && answer?.ok === true)
      outcomes.push(judgeMixer(parseMixer(answer.text), { direction, control }));
    else if (answer?.ok === false && answer.missing)
      return skipped('amixer is not installed (package alsa-utils)');
    else outcomes.push(missingMixer(device, control, answer?.text ?? ''));
  }
  // A card that is missing for both directions is reported once.
  return combine(
    outcomes.filter((one, at) => outcomes.findIndex(({ finding }) => finding === one.finding) === at),
  );
}

async function checkService(run: RunProgram, usesSoundCards: boolean): Promise<Outcome> {
  const answer = await run('systemctl', ['show', UNIT, `--property=${UNIT_PROPERTIES.join(',')}`]);
  const unit = answer.ok ? parseProperties(answer.text) : null;
  return judgeUnit(unit?.['LoadState'] === undefined ? null : unit, usesSoundCards);
}

/** The folders that the agent writes to. */
function places(
  { env }: MachineParts,
  config: Config | null,
): Pick<DiskFacts, 'folder' | 'purpose' | 'isNeeded'>[] {
  const state = env['STATE_DIRECTORY']?.split(':')[0];
  const recordings = (config?.lanes ?? []).flatMap(({ id, playback }) =>
    playback.driver === 'file'
      ? [{ folder: dirname(resolve(playback.path)), purpose: `the recording of lane ${id}`, isNeeded: true }]
      : [],
  );
  const own = { folder: state ?? resolve('.'), purpose: "the agent's own files", isNeeded: false };
  return state === undefined && recordings.length > 0 ? recordings : [own, ...recordings];
}

function missingMixer(device: string, control: string | null, said: string): Outcome {
  return judgeMissingMixer(device, control, said, said === '' ? null : reasonIn(said));
}
