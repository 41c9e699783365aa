import type { Direction } from '../../adapters/audio/cards/card.ts';
import type { Survey, SurveyedCard } from '../../adapters/audio/cards/survey.ts';

/** A problem for the operator, and its fix. */
export interface Advice {
  readonly code:
    | 'no_kernel_sound'
    | 'no_cards'
    | 'not_allowed'
    | 'no_alsa_tools'
    | 'alsa_configuration'
    | 'twins';
  readonly message: string;
  /** Lines to copy into a file or a shell. */
  readonly lines: readonly string[];
}

export const RULES_FILE = '/etc/udev/rules.d/85-dragoman-sound.rules';

/** Lists problems that keep devices from being used, or from being recognised after a change. */
export function adviseOn(survey: Survey): Advice[] {
  const advice: Advice[] = [];
  const { hasKernelSound, hasAlsaTools, alsaTrouble, cards, twins } = survey;
  const say = (code: Advice['code'], message: string, lines: readonly string[] = []): void => {
    advice.push({ code, message, lines });
  };
  if (!hasKernelSound) {
    say(
      'no_kernel_sound',
      'The kernel has no sound support (no /proc/asound), so no card is usable. In a container: pass /dev/snd to it. In a virtual machine: add a sound card. On a board: load the driver of the card. A sound server or the "file" driver works without it.',
    );
  } else if (cards.length === 0) {
    say(
      'no_cards',
      'There is no sound card. Plug one in. For a board on the pins of a Raspberry Pi, set its overlay in /boot/firmware/config.txt and reboot.',
    );
  }
  if (cards.some(({ isAllowed }) => isAllowed === false)) {
    say('not_allowed', 'This user has no access to the cards. Add it to the group audio and log in again:', [
      'sudo usermod -aG audio "$USER"',
    ]);
  }
  if (!hasAlsaTools) {
    say('no_alsa_tools', 'The "alsa" driver needs the programs arecord and aplay. Install them:', [
      'sudo apt install alsa-utils',
    ]);
  }
  if (alsaTrouble !== null) {
    say(
      'alsa_configuration',
      `ALSA does not read its configuration, so no device can be opened (${alsaTrouble}). Repair the file that it names, or /etc/asound.conf.`,
    );
  }
  for (const { cards: equal, rules } of twins) {
    const ids = equal.map(({ id }) => id).join(' and ');
    const problem = `The cards ${ids} are identical, so their names may be swapped after a reboot or when they are plugged in.`;
    if (rules.length === 0) {
      say(
        'twins',
        `${problem} The system does not report their USB sockets, so they cannot be distinguished.`,
      );
    } else {
      say(
        'twins',
        `${problem} To name them by USB socket, put these lines into ${RULES_FILE}, reboot, and use the new names:`,
        rules,
      );
    }
  }
  return advice;
}

/** Recommended devices: USB cards first, HDMI last, and the same card in both directions if possible. */
export function suggestDevices({ cards }: Survey): Readonly<Record<Direction, string | null>> {
  const inOrder = [...cards].sort((one, other) => rank(one) - rank(other));
  const find = (direction: Direction, among: readonly SurveyedCard[]): string | null =>
    among.flatMap(({ streams }) => streams).find((stream) => stream.direction === direction)?.address ?? null;
  const hearing = inOrder.find((card) => card.streams.some(({ direction }) => direction === 'capture'));
  return {
    capture: find('capture', inOrder),
    playback: find('playback', hearing === undefined ? inOrder : [hearing, ...inOrder]),
  };
}

function rank({ usb, streams }: SurveyedCard): number {
  if (streams.some(({ address }) => address.startsWith('sysdefault:'))) return 2;
  return usb === null ? 1 : 0;
}
