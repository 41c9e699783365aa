/** Measures how loud people speak from the levels of short frames; needs neither transcripts nor a voice detector. */
export interface SpeechLevel {
  hear(samples: Int16Array): void;
  /** RMS of the speech alone, dBFS; null until enough of it stands out from the room's noise. */
  speechDb(): number | null;
}

const FRAME_MS = 20;
const FLOOR_DB = -96;
/** The quietest tenth of all frames is the room's noise. */
const ROOM_SHARE = 0.1;
/** Speech is at least this much louder than the room's noise. */
const STANDS_OUT_DB = 12;
const SOFTEST_DB = -65;
/** Minimum speech (ms): less could be a cough or a chair. */
const LEAST_MS = 400;

export function createSpeechLevel(rateHz: number): SpeechLevel {
  const frame = Math.round((rateHz * FRAME_MS) / 1000);
  /** Number of frames per decibel. */
  const counts = new Float64Array(-FLOOR_DB + 1);
  let squares = 0;
  let filled = 0;
  return {
    hear(samples) {
      for (const sample of samples) {
        squares += sample * sample;
        if (++filled < frame) continue;
        const db = 10 * Math.log10(Math.max(squares / frame, 1e-3)) - 20 * Math.log10(32_768);
        const bin = Math.max(0, Math.min(counts.length - 1, Math.round(db) - FLOOR_DB));
        counts[bin] = (counts[bin] as number) + 1;
        squares = filled = 0;
      }
    },
    speechDb() {
      const total = counts.reduce((sum, count) => sum + count, 0);
      let room = 0;
      for (let below = 0; room < counts.length; room++) {
        below += counts[room] as number;
        if (below > total * ROOM_SHARE) break;
      }
      const from = Math.max(room + STANDS_OUT_DB, SOFTEST_DB - FLOOR_DB);
      let frames = 0;
      let power = 0;
      for (let bin = from; bin < counts.length; bin++) {
        frames += counts[bin] as number;
        power += (counts[bin] as number) * 10 ** ((bin + FLOOR_DB) / 10);
      }
      return frames * FRAME_MS < LEAST_MS ? null : Math.round(10 * Math.log10(power / frames));
    },
  };
}

/** Wanted level of speech (dBFS): loud enough for the service and the detectors, with headroom for shouting. */
const WANTED_DB = -24;
/** Deviation (dB) that needs no correction. */
const GOOD_DB = 8;
const HEADROOM_DB = -3;

/**
 * How much louder (positive) or softer a microphone should be, decibels; 0 if its level is good.
 * @param peakDb peak of all heard sound
 */
export function adviseGain(speechDb: number, peakDb: number): number {
  const wanted = WANTED_DB - speechDb;
  if (Math.abs(wanted) <= GOOD_DB) return 0;
  const advice = Math.min(wanted, HEADROOM_DB - peakDb);
  // Without headroom above the peak, the gain must not rise.
  return wanted > 0 ? Math.max(0, Math.round(advice)) : Math.round(advice);
}

/** Advice as one sentence. @param mixer how to open the card's mixer */
export function gainAdvice(advice: number, mixer: string): string {
  const how = advice > 0 ? 'up' : 'down';
  return `Turn the microphone ${how} by ${Math.abs(advice)} dB (${mixer}, F4; "gain" in "capture" sets and keeps it).`;
}
