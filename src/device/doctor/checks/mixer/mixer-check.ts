import { controlDevice } from '../../../../adapters/audio/alsa/mixer.ts';
import { reasonIn } from '../../../../adapters/audio/child/own-words.ts';
import { readPlug } from '../../../../adapters/headset/plug.ts';
import type { PlugState } from '../../../../adapters/headset/plug-state.ts';
import { parseMixer } from '../../../../core/mixer/mixer-controls.ts';
import type { MachineParts } from '../../../../ports/machine.ts';
import type { HeadsetConfig } from '../../../../protocol/config-sound.ts';
import { combine, type Outcome, ok, problem, skipped } from '../../report/finding.ts';
import { judgeMissingMixer, judgeMixer } from './mixer-rules.ts';

/** Reads the mixer of each card, and judges it for recording, playback or both, as the lanes use it. */
export async function checkMixers(
  { run }: MachineParts,
  devices: readonly { readonly device: string; readonly direction: 'capture' | 'playback' }[],
  headsets: readonly HeadsetConfig[] = [],
): Promise<Outcome> {
  if (devices.length === 0) return skipped('no lane uses a sound card');
  const seen = new Set<string>();
  const outcomes: Outcome[] = await Promise.all(
    headsets.map(async (headset) => judgePlug(headset, await readPlug(headset, run))),
  );
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

function judgePlug({ device, detect }: HeadsetConfig, state: PlugState): Outcome {
  if (typeof state !== 'boolean')
    return problem(`the plug of the headset "${device}" cannot be read: ${state.problem}`, state.fix);
  return ok(`the plug of the headset "${device}" is ${state ? 'in' : 'out'} ("${detect}")`);
}

function missingMixer(device: string, control: string | null, said: string): Outcome {
  return judgeMissingMixer(device, control, said, said === '' ? null : reasonIn(said));
}
