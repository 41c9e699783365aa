import type { VoiceDetector } from '../../ports/voice.ts';
import { samplesOf } from '../../sound/pcm.ts';
import { addSums, levelOf, NO_SOUND, type SoundSums, sumUp } from '../../sound/sound-level.ts';
import { createSpeechLevel } from '../../sound/speech-level.ts';

/** Measurement of a microphone over a period. */
export interface Reading {
  /** Length of the sound (ms). */
  readonly ms: number;
  readonly rmsDb: number;
  readonly peakDb: number;
  /** Number of clipped samples, which are at full scale. */
  readonly clipped: number;
  /** Share of the clipped samples in all samples. */
  readonly clippedShare: number;
  /** All samples are equal, which never happens with a working microphone. */
  readonly isDigitalSilence: boolean;
  readonly speechMs: number;
  /** RMS of all speech since the start (dBFS); null without enough speech. */
  readonly speechDb?: number | null;
}

/** Measures mono sound. */
export interface Listener {
  hear(pcm: Uint8Array): void;
  /** The measurement since the previous call. */
  take(): Reading;
  /** The measurement since the start. */
  total(): Reading;
}

export function createListener(rateHz: number, detector: VoiceDetector): Listener {
  const speech = createSpeechLevel(rateHz);
  let recent = NO_SOUND;
  let all = NO_SOUND;
  /** Number of samples in which the detector heard a voice. */
  let voiced = 0;
  let allVoiced = 0;

  const read = (sums: SoundSums, spoken: number): Reading => {
    const { rmsDb, peakDb, clippedShare, isStill } = levelOf(sums);
    return {
      ms: (sums.samples * 1000) / rateHz,
      rmsDb,
      peakDb,
      clipped: sums.clipped,
      clippedShare,
      isDigitalSilence: isStill,
      speechMs: (spoken * 1000) / rateHz,
    };
  };

  return {
    hear(pcm) {
      const samples = samplesOf(pcm);
      speech.hear(samples);
      recent = addSums(recent, sumUp(samples));
      detector.hear(samples, (isVoiced, count) => {
        if (isVoiced) voiced += count;
      });
    },
    take() {
      const reading = read(recent, voiced);
      all = addSums(all, recent);
      allVoiced += voiced;
      recent = NO_SOUND;
      voiced = 0;
      return reading;
    },
    total: () => ({ ...read(addSums(all, recent), allVoiced + voiced), speechDb: speech.speechDb() }),
  };
}
