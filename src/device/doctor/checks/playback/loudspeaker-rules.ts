import type { EchoMode } from '../../../../sound/echo-guard.ts';
import { NO_ECHO, tailOf } from '../../../../sound/echo-guard.ts';
import { LANE_DEFAULTS } from '../../../lane/state/lane-options.ts';
import { combine, type Outcome, ok, skipped, warning } from '../../report/finding.ts';

/** Result of playing the test tone through the room. */
export interface EchoFacts {
  readonly device: string;
  readonly mode: EchoMode;
  /** Volume of the lane, 0-100. */
  readonly volume: number;
  /** Null if the tone was not heard back. */
  readonly heard: {
    /** Delay since the expected time of playing. */
    readonly delayMs: number;
    readonly gainDb: number;
    readonly snrDb: number;
  } | null;
}

/** Longest delay (ms) of cards and room that the echo canceller can align to. */
const LONGEST_CANCELLED_MS = 400;
/** Loudest echo (dB) that can be cancelled: above it the microphone itself distorts. */
const LOUDEST_CANCELLED_DB = 0;
/** With a tail this long (ms), visitors lose their first words, because they answer sooner. */
const LONG_TAIL_MS = 800;
/** Echo below this level (dB) is hardly ever mistaken for speech. */
const FAINT_DB = -40;

/** Judges the loudspeaker and the echo mode by the test tone. */
export function judgeEcho({ device, mode, volume, heard }: EchoFacts): Outcome {
  if (volume === 0)
    return warning(`${device}: the volume of the lane is 0, so nothing can be heard`, 'Set "volume" to 80.', {
      volume,
    });
  if (heard === null)
    return warning(
      `${device} took the tone, but the microphone did not hear it`,
      `If you did not hear it either, check that the loudspeaker is on, unmuted and plugged in. If you did hear it, the two are so far apart that "echo": "off" is enough.`,
      { heard: false },
    );
  const { delayMs, gainDb, snrDb } = heard;
  const tailMs = tailAfter(delayMs, gainDb);
  const data = {
    heard: true,
    delay_ms: Math.round(delayMs),
    gain_db: gainDb,
    clearness_db: snrDb,
    tail_ms: Math.round(tailMs),
    advice: adviceOn(gainDb, delayMs),
  };
  const finding = `${device}: tone heard back after ${Math.round(delayMs)} ms at ${signed(gainDb)} dB`;
  return combine([ok(`${finding}; echo "${mode}" suits`, data), ...objections(finding, mode, heard, tailMs)]);
}

function objections(
  found: string,
  mode: EchoMode,
  { delayMs, gainDb }: { delayMs: number; gainDb: number },
  tailMs: number,
): Outcome[] {
  switch (mode) {
    case 'off':
      if (gainDb < FAINT_DB) return [];
      return [
        warning(
          `${found}; with echo "off" the kiosk translates itself`,
          'Set "echo" to "half-duplex", or to "cancel" if people should be able to interrupt.',
        ),
      ];
    case 'half-duplex':
      if (tailMs <= LONG_TAIL_MS) return lateAtFirst(found, delayMs);
      return [
        ...lateAtFirst(found, delayMs),
        warning(
          `${found}: half-duplex stays deaf for ${Math.round(tailMs)} ms after each sentence`,
          'Use the cards directly (plughw:) instead of a sound server, or wired instead of wireless ones.',
        ),
      ];
    case 'cancel':
      if (delayMs > LONGEST_CANCELLED_MS)
        return [warning(`${found}: too late to be cancelled`, 'Set "echo" to "half-duplex".')];
      if (gainDb > LOUDEST_CANCELLED_DB)
        return [
          warning(
            `${found}: the echo is louder than what is played`,
            'Turn the microphone down or move it away from the loudspeaker, or set "echo" to "half-duplex".',
          ),
        ];
      return lateAtFirst(found, delayMs);
  }
}

/** Warns about an echo later than the default tail, which applies until the lane has measured its echo. */
function lateAtFirst(finding: string, delayMs: number): Outcome[] {
  const mostMs = LANE_DEFAULTS.echoTailMs;
  if (delayMs <= mostMs) return [];
  return [
    warning(
      `${finding}: later than ${mostMs} ms, so after each start the microphone picks up the end of the first chime or sentence`,
      'Use the cards directly (plughw:) instead of a sound server, or wired instead of wireless ones.',
    ),
  ];
}

/** How long half-duplex stays closed after an echo with this delay and gain (ms). */
function tailAfter(delayMs: number, gainDb: number): number {
  const measure = { delayMs, gainDb, confidence: 1, at: 0 };
  return tailOf({ ...NO_ECHO, measures: [measure] }, 0);
}

/** Best echo mode for a room like this. */
export function adviceOn(gainDb: number, delayMs: number): EchoMode {
  if (gainDb < FAINT_DB) return 'off';
  return delayMs <= LONGEST_CANCELLED_MS && gainDb <= LOUDEST_CANCELLED_DB ? 'cancel' : 'half-duplex';
}

function signed(value: number): string {
  return value > 0 ? `+${value}` : `${value}`;
}

/** For a loudspeaker that is a file. */
export function judgeFilePlayback(path: string): Outcome {
  return skipped(`the loudspeaker is the file ${path}, which the doctor does not test`);
}
