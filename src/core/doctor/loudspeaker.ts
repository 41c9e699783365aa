import { NO_ECHO, tailOf } from '../audio/echo-guard.ts';
import { LANE_DEFAULTS } from '../lane/lane-options.ts';
import type { EchoMode } from '../uplink/gate.ts';
import { combine, type Outcome, ok, skipped, warning } from './finding.ts';

/** How the test tone went through the room. */
export interface EchoFacts {
  readonly device: string;
  readonly mode: EchoMode;
  /** Of the lane, 0-100. */
  readonly volume: number;
  /** Null where nothing was heard back. */
  readonly heard: {
    /** From the moment at which the loudspeaker was due to sound. */
    readonly delayMs: number;
    readonly gainDb: number;
    readonly clearnessDb: number;
  } | null;
}

/** The longest way through cards and room that the echo canceller aligns to. */
const LONGEST_CANCELLED_MS = 400;
/** Louder than this the microphone itself distorts, and no canceller undoes that. */
const LOUDEST_CANCELLED_DB = 0;
/** Visitors wait for an answer before they speak: this long a deafness after each sentence eats their first words. */
const LONG_TAIL_MS = 800;
/** What comes back softer than this is hardly ever taken for speech. */
const FAINT_DB = -40;

/** What the tone tells of the loudspeaker and of the mode against echo. */
export function judgeEcho({ device, mode, volume, heard }: EchoFacts): Outcome {
  if (volume === 0)
    return warning(`${device}: the volume of the lane is 0, so nothing can be heard`, 'Set "volume" to 80.', {
      volume,
    });
  if (heard === null)
    return warning(
      `${device} took the tone, but the microphone did not hear it`,
      `If you did not hear it either, the loudspeaker is off, muted or unplugged; if you did, the two are so far apart that "echo": "off" is enough.`,
      { heard: false },
    );
  const { delayMs, gainDb, clearnessDb } = heard;
  const tailMs = tailAfter(delayMs, gainDb);
  const data = {
    heard: true,
    delay_ms: Math.round(delayMs),
    gain_db: gainDb,
    clearness_db: clearnessDb,
    tail_ms: Math.round(tailMs),
    advice: adviceOn(gainDb, delayMs),
  };
  const found = `${device}: tone heard back after ${Math.round(delayMs)} ms at ${signed(gainDb)} dB`;
  return combine([ok(`${found}; echo "${mode}" suits`, data), ...objections(found, mode, heard, tailMs)]);
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
          'Set "echo" to "half-duplex", or to "cancel" where people shall be able to interrupt.',
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

/** Before a lane has measured its echo, its gate waits no longer than this for it. */
function lateAtFirst(found: string, delayMs: number): Outcome[] {
  const mostMs = LANE_DEFAULTS.echoTailMs;
  if (delayMs <= mostMs) return [];
  return [
    warning(
      `${found}: later than ${mostMs} ms, so that the end of the first chime or sentence after each start is heard back`,
      'Use the cards directly (plughw:) instead of a sound server, or wired instead of wireless ones.',
    ),
  ];
}

/** How long half-duplex stays deaf after the loudspeaker once it has heard this, milliseconds. */
function tailAfter(delayMs: number, gainDb: number): number {
  const measure = { delayMs, gainDb, confidence: 1, at: 0 };
  return tailOf({ ...NO_ECHO, measures: [measure] }, 0);
}

/** The mode with which a room like this one works best. */
export function adviceOn(gainDb: number, delayMs: number): EchoMode {
  if (gainDb < FAINT_DB) return 'off';
  return delayMs <= LONGEST_CANCELLED_MS && gainDb <= LOUDEST_CANCELLED_DB ? 'cancel' : 'half-duplex';
}

function signed(value: number): string {
  return value > 0 ? `+${value}` : `${value}`;
}

/** A loudspeaker that is a file. */
export function judgeFilePlayback(path: string): Outcome {
  return skipped(`the loudspeaker is the file ${path}, which the doctor leaves alone`);
}
