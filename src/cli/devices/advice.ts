import type { Direction } from '../../adapters/audio/cards/card.ts';
import type { Survey, SurveyedCard } from '../../adapters/audio/cards/survey.ts';

/** Something an operator should know, and what to do about it. */
export interface Advice {
  readonly code: 'no_kernel_sound' | 'no_cards' | 'not_allowed' | 'no_alsa_tools' | 'twins';
  readonly message: string;
  /** To be put into a file or a shell as they stand. */
  readonly lines: readonly string[];
}

export const RULES_FILE = '/etc/udev/rules.d/85-dragoman-sound.rules';

/** What keeps devices from being used, or from being found again. */
export function adviseOn(survey: Survey): Advice[] {
  const advice: Advice[] = [];
  const { hasKernelSound, hasAlsaTools, cards, twins } = survey;
  const say = (code: Advice['code'], message: string, lines: readonly string[] = []): void => {
    advice.push({ code, message, lines });
  };
  if (!hasKernelSound) {
    say(
      'no_kernel_sound',
      'The kernel here has no sound (there is no /proc/asound): no card can be used. In a container, give it /dev/snd; in a virtual machine, a sound card; on a board, load the driver of the card. A sound server or the "file" driver works without.',
    );
  } else if (cards.length === 0) {
    say(
      'no_cards',
      'There is no sound card. Plug one in; for a board on the pins of a Raspberry Pi, name its overlay in /boot/firmware/config.txt and start again.',
    );
  }
  if (cards.some(({ isAllowed }) => isAllowed === false)) {
    say('not_allowed', 'This user may not open the cards. Let it, then log in again:', [
      'sudo usermod -aG audio "$USER"',
    ]);
  }
  if (!hasAlsaTools) {
    say(
      'no_alsa_tools',
      'The programs arecord and aplay, which the "alsa" driver needs, are not installed:',
      ['sudo apt install alsa-utils'],
    );
  }
  for (const { cards: equal, rules } of twins) {
    const ids = equal.map(({ id }) => id).join(' and ');
    const problem = `The cards ${ids} are equal: which of them gets which name may change when they are plugged in or when the machine starts.`;
    if (rules.length === 0) {
      say('twins', `${problem} Where they are plugged in is not told here, so they can't be told apart.`);
    } else {
      say(
        'twins',
        `${problem} To name them by their USB sockets, put these lines into ${RULES_FILE}, start the machine again, and use the new names:`,
        rules,
      );
    }
  }
  return advice;
}

/** The devices to begin with: a USB card before others, HDMI last, and one card for both ways where it has both. */
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
