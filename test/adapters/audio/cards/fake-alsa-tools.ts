import type { AlsaTools } from '../../../../src/adapters/audio/cards/alsa-tools.ts';
import type { Direction } from '../../../../src/adapters/audio/cards/card.ts';
import { parseHardwareParameters } from '../../../../src/adapters/audio/cards/hardware-parameters.ts';
import { BOARD_PARAMETERS } from './machines.ts';

/** Answers like ALSA's programs on a Raspberry Pi whose screen is off; records the questions. */
export function answeringTools(
  offered: Readonly<Record<Direction, readonly string[]>> = { capture: [], playback: [] },
): AlsaTools & { readonly asked: string[] } {
  const ability = parseHardwareParameters(BOARD_PARAMETERS);
  const asked: string[] = [];
  return {
    asked,
    listSoftware: async (direction) => ({
      devices: offered[direction].map((name) => ({ name, description: `The device ${name}` })),
      trouble: null,
    }),
    async askAbility(direction, device) {
      asked.push(`${direction} ${device}`);
      const isKnown = /Headphones|seeed/.test(device) || offered[direction].includes(device);
      return isKnown && ability !== null ? { ok: true, ability } : { ok: false, reason: 'No such device' };
    },
  };
}

/** A machine without alsa-utils. */
export const NO_TOOLS: AlsaTools = {
  listSoftware: async () => null,
  askAbility: async (direction) => ({
    ok: false,
    reason: `${direction === 'capture' ? 'arecord' : 'aplay'} is not installed`,
  }),
};
