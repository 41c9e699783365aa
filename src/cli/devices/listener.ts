import { samplesOf } from '../../core/audio/pcm.ts';
import { addSums, levelOf, NO_SOUND, type SoundSums, sumUp } from '../../core/audio/sound-level.ts';
import { createSpeechLevel } from '../../core/audio/speech-level.ts';
import type { VoiceDetector } from '../../ports/voice.ts';

/** What a microphone delivered in a stretch of time. */
export interface Reading {
  /** How much sound it was. */
  readonly ms: number;
  readonly rmsDb: number;
  readonly peakDb: number;
  /** Samples as large as can be, and their share: what was louder has been cut off. */
  readonly clipped: number;
  readonly clippedShare: number;
  /** Every sample is the same: no real microphone is as still as that. */
  readonly isDigitalSilence: boolean;
  readonly speechMs: number;
  /** RMS of what was said from the beginning on, dBFS; null where nobody has said enough. */
  readonly speechDb?: number | null;
}

/** Listens to mono sound and sums it up. */
export interface Listener {
  hear(pcm: Uint8Array): void;
  /** What has come since it was last asked. */
  take(): Reading;
  /** All of it. */
  total(): Reading;
}

export function createListener(rateHz: number, detector: VoiceDetector): Listener {
  const speech = createSpeechLevel(rateHz);
  let recent = NO_SOUND;
  let all = NO_SOUND;
  /** Samples in which the detector heard a voice. */
  let voiced = 0;
  let allVoiced = 0;

  const read = (sums: SoundSums, spoken: number): Reading => {
    const { rmsDb, peakDb, clippedShare, isStill } = levelOf(sums);
    return {
      ms: (sums.samples * 1000) / rateHz,
      ...{ rmsDb, peakDb, clipped: sums.clipped, clippedShare },
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
