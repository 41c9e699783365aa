import { formatMend } from '../child/complaint.ts';
import type { Shape } from '../child/shape.ts';
import type { SupervisorWorld } from '../child/supervisor.ts';

/** A card and the lane's sound on it. */
export interface AlsaOptions {
  /** "plughw:CARD=Mic": alsa-lib finds the card of this name anew at each opening, whatever its index is by then. */
  readonly device: string;
  /** Of the lane's sound. */
  readonly rateHz: number;
  readonly seed: number;
  readonly world: SupervisorWorld;
}

/** One way to ask a device for sound. */
export interface Rung extends Shape {
  readonly device: string;
}

/** Forms that cards have when they don't have ours, the likeliest first. */
const COMMON: readonly Shape[] = [
  { rateHz: 48_000, channels: 1 },
  { rateHz: 48_000, channels: 2 },
  { rateHz: 44_100, channels: 1 },
  { rateHz: 44_100, channels: 2 },
  { rateHz: 16_000, channels: 1 },
  { rateHz: 16_000, channels: 2 },
];

/**
 * The ways to ask for sound, one after the other until the device takes one: as the operator wrote it; with ALSA's own
 * conversion; in a form that cards commonly have, converted here.
 */
export interface Ladder {
  readonly rung: Rung;
  /**
   * The device refused the form.
   * @returns a sentence that tells what is tried next; null when nothing is left (the next try begins from the start)
   */
  refuse(): string | null;
  /** The device gave another rate than it was asked for: that one is asked for from now on. */
  accept(rateHz: number): void;
}

export function createLadder(device: string, rateHz: number): Ladder {
  const asked: Rung = { device, rateHz, channels: 1 };
  const converting = device.startsWith('hw:') ? `plug${device}` : device;
  const rungs: Rung[] = [
    asked,
    ...(converting === device ? [{ ...asked, channels: 2 as const }] : [{ ...asked, device: converting }]),
    ...COMMON.filter((shape) => shape.rateHz !== rateHz).map((shape) => ({ ...shape, device })),
  ];
  let index = 0;
  let rung = asked;
  const stand = (next: Rung): void => {
    rung = next;
  };
  return {
    get rung() {
      return rung;
    },
    refuse() {
      const refused = describe(rung);
      index = index + 1 < rungs.length ? index + 1 : 0;
      stand(rungs[index] ?? asked);
      if (index === 0) return null;
      const isPlugged = rung.device !== device;
      const mend = isPlugged ? `; ${formatMend(device)}` : '';
      return `the device "${device}" does not take ${refused}${mend}; trying ${describe(rung)}${isPlugged ? ` with "${rung.device}"` : ''}`;
    },
    accept(granted) {
      stand({ ...rung, rateHz: granted });
    },
  };
}

const describe = ({ rateHz, channels }: Shape): string =>
  `${rateHz} Hz ${channels === 1 ? 'mono' : 'stereo'}`;
