import type { SoundAccess } from '../../../../ports/machine.ts';
import { combine, count, type Outcome, ok, problem, skipped, warning } from '../../report/finding.ts';

/** A configured device; `card` is null if the device's name does not give one. */
export interface WantedDevice {
  readonly key: string;
  readonly device: string;
  readonly card: string | number | null;
}

export function judgePermissions(access: SoundAccess, wanted: readonly WantedDevice[]): Outcome {
  if (wanted.length === 0) return skipped('no lane uses a sound card');
  const { hasSound, user, cards, isInAudio } = access;
  const data = { user, in_audio: isInAudio, cards: cards.map(({ id }) => id) };
  if (!hasSound) {
    // The device may be a plugin, or be on another machine: the capture and playback checks test that.
    const named = wanted.find(({ card }) => card !== null);
    if (named === undefined) return skipped('this machine has no sound cards of its own', data);
    return warning(
      `the kernel has no sound cards, but ${named.key} is "${named.device}"`,
      'If it cannot be heard or played either: plug the sound card in; in a container, pass /dev/snd through.',
      data,
    );
  }
  return combine([
    ...(cards.length === 0
      ? [problem('no sound card is plugged in', 'Plug it in, then see "dragoman devices".', data)]
      : [ok(`${count(cards.length, 'card')}, ${user} may use ${cards.length === 1 ? 'it' : 'them'}`, data)]),
    ...wanted.flatMap((one) => judgeDevice(access, one)),
  ]);
}

function judgeDevice(
  { user, cards, isInAudio }: SoundAccess,
  { key, device, card }: WantedDevice,
): Outcome[] {
  if (card === null || cards.length === 0) return [];
  const kernelCard = cards.find(({ id, index }) => id === card || index === card);
  if (kernelCard === undefined) {
    const known = cards.map(({ id }) => id).join(', ');
    return [
      problem(
        `${key} is "${device}", but there is no card "${card}"; there are ${known}`,
        'Plug it in, or name another: "dragoman devices" lists them.',
      ),
    ];
  }
  if (kernelCard.isAllowed !== false) return [];
  const fix = isInAudio
    ? 'Check the permissions in /dev/snd.'
    : `Put the user into the group audio: usermod -aG audio ${user}; then log in again or restart the service.`;
  return [problem(`user ${user} may not open card "${kernelCard.id}" (${key})`, fix)];
}
