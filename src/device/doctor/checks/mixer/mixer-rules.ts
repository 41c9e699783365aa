import type { MixerControl } from '../../../../core/mixer/mixer-controls.ts';
import { combine, count, type Outcome, ok, problem, skipped, warning } from '../../report/finding.ts';

/** Main controls of each direction; other controls may belong to unused sockets. */
const MAIN = {
  playback: /^(Master|PCM|Speaker|Headphone|HDMI|Digital|Line Out|Front|Playback|DAC)$/i,
  capture: /^(Mic|Capture|Internal Mic|Front Mic|Mic Boost|ADC|Digital)$/i,
} as const;
const LOW_PERCENT = 10;

export interface MixerQuestion {
  readonly direction: 'playback' | 'capture';
  /** Value for amixer's option `-D`: "hw:CARD=Head", "default". */
  readonly control: string;
}

/** Name of a control device in a sentence. */
export function nameMixer(control: string): string {
  const card = /^hw:(?:CARD=)?(.+)$/.exec(control)?.[1];
  if (card !== undefined) return `card ${card}`;
  return control === 'default' ? 'the default card' : `"${control}"`;
}

/** amixer's messages for a missing card. For a name that is not a card's, such as "default", only a control device may be missing. */
const ABSENT = /Cannot get card index|cannot find card|Invalid card number/i;
/** amixer's message for a device whose definition names no mixer. */
const UNDEFINED = /Invalid CTL/;

/**
 * Outcome for a device whose mixer does not answer.
 * @param control null if the device's name gives none
 * @param said amixer's message
 * @param words the part to show; null: the output is empty
 */
export function judgeMissingMixer(
  device: string,
  control: string | null,
  said: string,
  words: string | null,
): Outcome {
  if (control !== null && ABSENT.test(said))
    return skipped(
      control.startsWith('hw:')
        ? `${nameMixer(control)} is not there`
        : `there is no card behind "${device}"`,
    );
  const name = control === null ? `"${device}"` : nameMixer(control);
  return skipped(
    words === null || UNDEFINED.test(said)
      ? `${name} has no mixer`
      : `the mixer of ${name} does not answer (${words})`,
  );
}

/** Judges one direction of one card. */
export function judgeMixer(
  controls: readonly MixerControl[],
  { direction, control }: MixerQuestion,
): Outcome {
  const name = nameMixer(control);
  // Sound servers store their volumes themselves.
  const keep = control.startsWith('hw:') ? '; keep it: alsactl store' : '';
  const sides = controls.flatMap((control) => {
    const side = control[direction];
    return side === null ? [] : [{ name: control.name, ...side }];
  });
  if (sides.length === 0) return skipped(`${name} has no control for ${direction}`);
  const known = sides.filter((side) => MAIN[direction].test(side.name));
  const wanted = known.length > 0 ? known : sides.length === 1 ? sides : [];
  if (wanted.length === 0) return ok(`${name}: ${count(sides.length, 'control')} for ${direction}`);
  const set = (simple: string, value: string): string =>
    `Turn it up: amixer -D ${control} sset '${simple}' ${value}${keep}.`;
  const steps = wanted.map((side): Outcome => {
    const what = direction === 'playback' ? 'loudspeaker' : 'microphone';
    if (side.on === false)
      return problem(
        `the ${what} is switched off: '${side.name}' of ${name}`,
        set(side.name, direction === 'playback' ? 'unmute' : 'cap'),
      );
    if (side.percent === 0)
      return problem(`the ${what} is turned down to 0: '${side.name}' of ${name}`, set(side.name, '80%'));
    if (side.percent !== null && side.percent < LOW_PERCENT)
      return warning(
        `the ${what} is nearly off: '${side.name}' of ${name} at ${side.percent} %`,
        set(side.name, '80%'),
      );
    return ok(`'${side.name}' ${side.percent === null ? 'on' : `${side.percent} %`}`);
  });
  const outcome = combine(steps);
  return outcome.verdict === 'ok' ? ok(`${name}, ${direction}: ${outcome.finding}`) : outcome;
}
