import type { Shape } from '../child/format.ts';
import { formatFix } from '../child/stderr-classifier.ts';
import type { SupervisorDeps } from '../child/supervisor.ts';

/** An ALSA device and how a lane uses it. */
export interface AlsaOptions {
  /** "plughw:CARD=Mic": alsa-lib looks the name up at each opening, so a new index of the card does no harm. */
  readonly device: string;
  /** Rate of the lane's sound. */
  readonly rateHz: number;
  readonly seed: number;
  readonly deps: SupervisorDeps;
}

/** One device name and format to try. */
export interface FormatAttempt extends Shape {
  readonly device: string;
}

/** Fallback formats for cards that do not support ours, likeliest first. */
const COMMON: readonly Shape[] = [
  { rateHz: 48_000, channels: 1 },
  { rateHz: 48_000, channels: 2 },
  { rateHz: 44_100, channels: 1 },
  { rateHz: 44_100, channels: 2 },
  { rateHz: 16_000, channels: 1 },
  { rateHz: 16_000, channels: 2 },
];

/**
 * Formats to request in turn until the device accepts one: the operator's, one with ALSA's conversion (in stereo if it is already
 * on), then common formats of cards, which are converted here.
 */
export interface FormatAttempts {
  readonly current: FormatAttempt;
  /**
   * The device refused the format.
   * @returns a sentence that names the next attempt; null when none is left (then the list starts again)
   */
  refuse(): string | null;
  /** The device granted a different rate; that rate is requested from now on. */
  accept(rateHz: number): void;
}

export function createFormatAttempts(device: string, rateHz: number): FormatAttempts {
  const asked: FormatAttempt = { device, rateHz, channels: 1 };
  const converting = device.startsWith('hw:') ? `plug${device}` : device;
  const candidates: FormatAttempt[] = [
    asked,
    ...(converting === device ? [{ ...asked, channels: 2 as const }] : [{ ...asked, device: converting }]),
    ...COMMON.filter((shape) => shape.rateHz !== rateHz).map((shape) => ({ ...shape, device })),
  ];
  let index = 0;
  let current = asked;
  const stand = (next: FormatAttempt): void => {
    current = next;
  };
  return {
    get current() {
      return current;
    },
    refuse() {
      const refused = describe(current);
      index = index + 1 < candidates.length ? index + 1 : 0;
      stand(candidates[index] ?? asked);
      if (index === 0) return null;
      const isPlugged = current.device !== device;
      const fix = isPlugged ? `; ${formatFix(device)}` : '';
      return `the device "${device}" does not accept ${refused}${fix}; trying ${describe(current)}${isPlugged ? ` with "${current.device}"` : ''}`;
    },
    accept(granted) {
      stand({ ...current, rateHz: granted });
    },
  };
}

const describe = ({ rateHz, channels }: Shape): string =>
  `${rateHz} Hz ${channels === 1 ? 'mono' : 'stereo'}`;
