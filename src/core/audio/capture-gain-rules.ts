import { parseMixer } from '../doctor/mixer-rules.ts';

/** What a card's mixer says of its microphone. */
export interface CaptureMixer {
  /** The control of its gain. */
  readonly name: string;
  readonly percent: number;
  /** Null where it has no switch. */
  readonly on: boolean | null;
  /** Switches that are on and let the card itself turn the gain. */
  readonly automatic: readonly { readonly name: string; readonly side: 'playback' | 'capture' }[];
}

/** Controls of a microphone's gain, the likeliest first. */
const GAINS = [
  'Mic',
  'Capture',
  'Internal Mic',
  'Front Mic',
  'Headset Mic',
  'Digital',
  'ADC',
  'PCM',
  'Input',
  'Line',
];
const AUTOMATIC = /\b(auto(matic)?[ _-]?gain|agc)\b/i;

/** Reads what `amixer scontents` prints; null where nothing turns the microphone. */
export function readCaptureMixer(text: string): CaptureMixer | null {
  const controls = parseMixer(text);
  const gains = controls.flatMap(({ name, capture }) =>
    capture === null || capture.percent === null || AUTOMATIC.test(name)
      ? []
      : [{ name, percent: capture.percent, on: capture.on }],
  );
  const known = GAINS.flatMap((name) => gains.filter((gain) => gain.name === name));
  const gain = known[0] ?? (gains.length === 1 ? gains[0] : undefined);
  if (gain === undefined) return null;
  const automatic = controls
    .filter(({ name, playback, capture }) => AUTOMATIC.test(name) && (playback?.on ?? capture?.on) === true)
    .map(({ name, playback }) => ({
      name,
      side: playback === null ? ('capture' as const) : ('playback' as const),
    }));
  return { ...gain, automatic };
}

/** What is known of a gain that is kept. Plain data. */
export interface KeptGain {
  /** What the card made of the wanted gain, percent; null while it has not been set on this card. */
  readonly made: number | null;
  /** The owner knows that something else turns it. */
  readonly told: boolean;
  readonly calmLooks: number;
}

export const NOTHING_KEPT: KeptGain = { made: null, told: false, calmLooks: 0 };

/** Somebody else turns the gain, or does no more. */
export interface GainChange {
  readonly present: boolean;
  /** For the owner. */
  readonly message: string;
}

/** After this many looks at which it stood as it was set, nobody else turns it any more. */
const CALM_LOOKS = 10;

/** @returns whether to set it now, and what the owner should hear */
export function lookAtGain(
  kept: KeptGain,
  mixer: CaptureMixer,
  wanted: number,
): { kept: KeptGain; set: boolean; news: GainChange | null } {
  const isOpen = mixer.on !== false && mixer.automatic.length === 0;
  if (kept.made === null) return { kept, set: !isOpen || mixer.percent !== wanted, news: null };
  if (isOpen && mixer.percent === kept.made) {
    const calmLooks = kept.calmLooks + 1;
    if (!kept.told || calmLooks < CALM_LOOKS) return { kept: { ...kept, calmLooks }, set: false, news: null };
    const message = `the microphone's gain ('${mixer.name}') stays at ${kept.made} %`;
    return {
      kept: { ...kept, told: false, calmLooks },
      set: false,
      news: { present: false, message },
    };
  }
  const message = `something else turned the microphone: ${describe(kept.made, mixer)}; it is set back to ${wanted} %`;
  const news: GainChange = { present: true, message };
  return { kept: { ...kept, told: true, calmLooks: 0 }, set: true, news: kept.told ? null : news };
}

function describe(made: number, { name, percent, on, automatic }: CaptureMixer): string {
  const [agent] = automatic;
  if (on === false) return `'${name}' is switched off`;
  if (percent !== made) return `'${name}' went from ${made} % to ${percent} %`;
  return agent === undefined ? `'${name}' changed` : `'${agent.name}' is on`;
}

/** It has been set; the card has steps of its own. */
export function settleGain(kept: KeptGain, mixer: CaptureMixer): KeptGain {
  return { ...kept, made: mixer.percent };
}
