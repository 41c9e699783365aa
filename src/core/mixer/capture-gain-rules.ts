import { parseMixer } from './mixer-controls.ts';

/** The microphone's settings in a card's mixer. */
export interface CaptureMixer {
  /** Name of the gain control. */
  readonly name: string;
  readonly percent: number;
  /** Null if the control has no switch. */
  readonly on: boolean | null;
  /** Automatic gain switches that are on. */
  readonly automatic: readonly { readonly name: string; readonly side: 'playback' | 'capture' }[];
}

/** Names of gain controls, the likeliest first. */
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

/** Parses the output of `amixer scontents`; null if it shows no gain control of the microphone. */
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

/** State of a gain that the agent keeps at the configured value. Plain data. */
export interface KeptGain {
  /** Gain that the card reported after it was set (percent); null: not set on this card yet. */
  readonly made: number | null;
  /** The owner was informed that another program changes it. */
  readonly reported: boolean;
  readonly calmLooks: number;
}

export const NOTHING_KEPT: KeptGain = { made: null, reported: false, calmLooks: 0 };

/** Another program changes the gain, or has stopped doing so. */
export interface GainChange {
  readonly present: boolean;
  /** Message for the owner. */
  readonly message: string;
}

/** Number of checks with an unchanged gain after which the finding is cleared. */
const CALM_LOOKS = 10;

/** @returns whether to set the gain now, and a message for the owner */
export function lookAtGain(
  kept: KeptGain,
  mixer: CaptureMixer,
  wanted: number,
): { kept: KeptGain; set: boolean; news: GainChange | null } {
  const isOpen = mixer.on !== false && mixer.automatic.length === 0;
  if (kept.made === null) return { kept, set: !isOpen || mixer.percent !== wanted, news: null };
  if (isOpen && mixer.percent === kept.made) {
    const calmLooks = kept.calmLooks + 1;
    if (!kept.reported || calmLooks < CALM_LOOKS)
      return { kept: { ...kept, calmLooks }, set: false, news: null };
    const message = `the microphone's gain ('${mixer.name}') stays at ${kept.made} %`;
    return {
      kept: { ...kept, reported: false, calmLooks },
      set: false,
      news: { present: false, message },
    };
  }
  const message = `another program changed the microphone's gain: ${describe(kept.made, mixer)}; setting it back to ${wanted} %`;
  const news: GainChange = { present: true, message };
  return { kept: { ...kept, reported: true, calmLooks: 0 }, set: true, news: kept.reported ? null : news };
}

function describe(made: number, { name, percent, on, automatic }: CaptureMixer): string {
  const [agent] = automatic;
  if (on === false) return `'${name}' is switched off`;
  if (percent !== made) return `'${name}' went from ${made} % to ${percent} %`;
  return agent === undefined ? `'${name}' changed` : `'${agent.name}' is on`;
}

/** Notes the gain that the card reports after it was set: cards round to their own steps. */
export function settleGain(kept: KeptGain, mixer: CaptureMixer): KeptGain {
  return { ...kept, made: mixer.percent };
}
