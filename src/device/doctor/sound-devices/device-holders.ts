import { type Direction, describeHolders, type Holder } from '../../../adapters/audio/cards/card.ts';
import type { AudioFault } from '../../../ports/audio.ts';
import { type Outcome, problem } from '../report/finding.ts';
import { judgeDeviceFault } from './device-fault-rules.ts';

/** The processes that have a kernel device open; empty if unknown. */
export type HoldersOf = (device: string, direction: Direction) => readonly Holder[];

/** Judges the fault of a device that the doctor opened. For a busy one, it names the program that holds the device. */
export function judgeOpened(
  device: string,
  { code, message }: AudioFault,
  direction: Direction,
  holdersOf: HoldersOf,
): Outcome {
  const holders = code === 'busy' ? holdersOf(device, direction) : [];
  if (holders.length > 0)
    return problem(`${device} is held by ${describeHolders(holders)}`, adviseOn(holders), { device, code });
  return judgeDeviceFault(device, { code, message });
}

/**
 * How to free a card that another program holds. A desktop's sound server restarts itself until its socket is masked.
 */
function adviseOn(holders: readonly Holder[]): string {
  const has = (program: RegExp): boolean => holders.some((holder) => program.test(holder.program));
  const mask = (units: string): string =>
    `Stop this sound server permanently, as the desktop's user: systemctl --user mask --now ${units}`;
  if (has(/^(pipewire|wireplumber)/)) return mask('pipewire.socket pipewire wireplumber');
  if (has(/^pulseaudio/)) return mask('pulseaudio.socket pulseaudio');
  return 'End that program.';
}
