import { BYTES_PER_SAMPLE, samplesOf } from '../../../../sound/pcm.ts';
import { addSums, clips, hasOffset, levelOf, NO_SOUND, sumUp } from '../../../../sound/sound-level.ts';
import { adviseGain, createSpeechLevel, gainAdvice } from '../../../../sound/speech-level.ts';
import { combine, type Outcome, ok, problem, warning } from '../../report/finding.ts';

/** Sound as a microphone delivered it. */
export interface HeardPiece {
  readonly pcm: Uint8Array;
  /** When its last sample was captured, monotonic milliseconds. */
  readonly capturedAt: number;
}

/** A recording in figures. */
export interface HearingFacts {
  /** Requested rate. */
  readonly rateHz: number;
  /** Measured rate; null with too few pieces. */
  readonly measuredHz: number | null;
  readonly recordedMs: number;
  readonly rmsDb: number;
  readonly peakDb: number;
  /** Shares of all samples, 0 to 1. */
  readonly clipped: number;
  readonly zero: number;
  /** Mean of all samples, as a share of full scale. */
  readonly offset: number;
  /** RMS of speech during the recording, dBFS; null without speech. */
  readonly speechDb: number | null;
}

export function measureHearing(pieces: readonly HeardPiece[], rateHz: number): HearingFacts {
  let sums = NO_SOUND;
  let zeros = 0;
  const speech = createSpeechLevel(rateHz);
  for (const { pcm } of pieces) {
    const samples = samplesOf(pcm);
    speech.hear(samples);
    sums = addSums(sums, sumUp(samples));
    for (const sample of samples) if (sample === 0) zeros += 1;
  }
  const { rmsDb, peakDb, clippedShare, offset } = levelOf(sums);
  return {
    rateHz,
    measuredHz: measureRate(pieces),
    recordedMs: (sums.samples * 1000) / rateHz,
    rmsDb: Math.round(10 * rmsDb) / 10,
    peakDb: Math.round(10 * peakDb) / 10,
    clipped: clippedShare,
    zero: zeros / Math.max(1, sums.samples),
    offset,
    speechDb: speech.speechDb(),
  };
}

const FEWEST_PIECES = 5;
/** Maximum number of points for the measured rate: more do not improve it, and every pair is compared. */
const MOST_POINTS = 64;

/** Samples per second: the median slope over all pairs of pieces (Theil-Sen), which ignores pieces that a busy machine delays. */
function measureRate(pieces: readonly HeardPiece[]): number | null {
  if (pieces.length < FEWEST_PIECES) return null;
  const step = Math.ceil(pieces.length / MOST_POINTS);
  let samples = 0;
  const points = pieces
    .map(({ pcm, capturedAt }) => {
      samples += pcm.byteLength / BYTES_PER_SAMPLE;
      return { at: capturedAt, samples };
    })
    .filter((_, index) => index % step === 0);
  const slopes = points.flatMap((from, index) =>
    points
      .slice(index + 1)
      .filter(({ at }) => at > from.at)
      .map((to) => (to.samples - from.samples) / (to.at - from.at)),
  );
  const median = slopes.toSorted((one, other) => one - other)[slopes.length >> 1];
  return median === undefined ? null : median * 1000;
}

const RATE_TOLERANCE = 0.005;
const BROKEN_RATE = 0.02;
const SHORTEST_MS = 500;
const NEARLY_SILENT_DB = -72;

/** Whether the measured rate deviates enough for a longer measurement. */
export function isRateDoubtful({ rateHz, measuredHz }: HearingFacts): boolean {
  return measuredHz !== null && Math.abs(measuredHz / rateHz - 1) > RATE_TOLERANCE;
}

/** Whether the recording is so quiet that only a played tone can tell a noise gate from a missing microphone. */
export function isHearingDoubtful({ recordedMs, zero, rmsDb }: HearingFacts): boolean {
  return recordedMs >= SHORTEST_MS && (zero === 1 || rmsDb < NEARLY_SILENT_DB);
}

/** Circumstances of a recording. */
export interface HearingQuestion {
  readonly device: string;
  /** A file replaces the microphone: silence in it is not a fault. */
  readonly isRecording: boolean;
  /** Whether the microphone was digitally silent before the tone; the facts include the tone. Null: no tone was played. */
  readonly wasSilentBeforeTone: boolean | null;
}

export function judgeHearing(facts: HearingFacts, question: HearingQuestion): Outcome {
  const { device, isRecording, wasSilentBeforeTone } = question;
  const { rateHz, measuredHz, recordedMs, rmsDb, peakDb, clipped, zero, speechDb } = facts;
  // With the tone in the recording, speech and tone cannot be distinguished.
  const isSaid = speechDb !== null && wasSilentBeforeTone === null;
  const advice = isSaid ? adviseGain(speechDb, peakDb) : null;
  const data = {
    rate_hz: rateHz,
    measured_hz: measuredHz === null ? null : Math.round(measuredHz),
    recorded_ms: Math.round(recordedMs),
    rms_db: rmsDb,
    peak_db: peakDb,
    clipped_percent: Math.round(clipped * 10_000) / 100,
    ...(isSaid && { speech_db: speechDb, gain_advice_db: advice }),
  };
  if (recordedMs < SHORTEST_MS)
    return problem(
      `${device} opens but delivers nothing`,
      'Unplug it and plug it in again; try another socket or cable.',
      data,
    );
  if (zero === 1 && !isRecording) return judgeSilence(question, data);
  const rate = measuredHz === null ? `${rateHz}` : `${Math.round(measuredHz)}`;
  const level = zero === 1 ? 'silence' : `level ${rmsDb} dB, peak ${peakDb} dB`;
  const summary = ok(`${device}: ${level}, ${rate} samples/s`, data);
  return combine([
    summary,
    ...judgeGate(question),
    ...judgeRate(facts, device),
    ...judgeSound(facts, question, advice),
  ]);
}

function judgeSilence({ device, wasSilentBeforeTone }: HearingQuestion, data: Outcome['data']): Outcome {
  return wasSilentBeforeTone === null
    ? problem(
        `${device} delivers digital silence: it is muted, nothing is plugged in, or its noise gate is closed`,
        `Speak while this runs; look for a switch at the microphone, and at the mixer ("alsamixer", F4).`,
        data,
      )
    : problem(
        `${device} delivers digital silence: it is muted, or nothing is plugged in`,
        'Look for a switch at the microphone, and at the mixer ("alsamixer", F4).',
        data,
      );
}

/** Warns about a noise gate. */
function judgeGate({ device, wasSilentBeforeTone }: HearingQuestion): Outcome[] {
  if (wasSilentBeforeTone !== true) return [];
  return [
    warning(
      `${device} hears the tone but is digitally silent without it: it has a noise gate, which may cut off the beginnings of words`,
      'Turn off the noise gate or noise reduction of the microphone if it has a switch or a setting for it.',
    ),
  ];
}

function judgeRate({ rateHz, measuredHz }: HearingFacts, device: string): Outcome[] {
  const off = measuredHz === null ? 0 : measuredHz / rateHz - 1;
  const percent = `${off > 0 ? '+' : ''}${(off * 100).toFixed(1)} %`;
  if (Math.abs(off) <= RATE_TOLERANCE) return [];
  const judge = Math.abs(off) > BROKEN_RATE ? problem : warning;
  return [
    judge(
      `${device} delivers ${Math.round(measuredHz ?? 0)} samples/s instead of ${rateHz} (${percent})`,
      'Use "plughw:" in the device name, another sampleRate, or another card.',
    ),
  ];
}

/** Findings about the sound itself. */
function judgeSound(
  { rmsDb, clipped, offset, speechDb }: HearingFacts,
  { device, isRecording }: HearingQuestion,
  advice: number | null,
): Outcome[] {
  const steps: Outcome[] = [];
  const isClipping = clips(clipped) === true;
  if (isClipping)
    steps.push(
      warning(
        `${device} is overdriven: ${(clipped * 100).toFixed(1)} % of the sound is clipped`,
        'Turn the microphone down ("alsamixer", F4), or move it away from the loudspeaker.',
      ),
    );
  if (hasOffset(offset) === true)
    steps.push(
      warning(
        `${device} has a DC offset of ${Math.round(offset * 100)} % of full scale`,
        'The microphone or its input is faulty: try another.',
      ),
    );
  if (rmsDb < NEARLY_SILENT_DB && !isRecording)
    steps.push(
      warning(
        `${device} is nearly silent (${rmsDb} dB)`,
        'Speak while this runs; turn the microphone up ("alsamixer", F4).',
      ),
    );
  if (advice !== null && advice !== 0 && !isClipping && !isRecording)
    steps.push(
      warning(
        `${device}: speech is ${advice > 0 ? 'soft' : 'loud'} at ${speechDb} dB`,
        gainAdvice(advice, '"alsamixer"'),
      ),
    );
  return steps;
}
