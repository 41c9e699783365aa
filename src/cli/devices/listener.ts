import { levelOfPower, SILENCE_DBFS, samplesOf } from '../../core/audio/pcm.ts';
import { createSpeechLevel } from '../../core/audio/speech-level.ts';
import type { VoiceDetector } from '../../ports/voice.ts';

/** What a microphone delivered in a stretch of time. */
export interface Reading {
  /** How much sound it was. */
  readonly ms: number;
  readonly rmsDb: number;
  readonly peakDb: number;
  /** Samples as large as can be: what was louder has been cut off. */
  readonly clipped: number;
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

const LARGEST = 32_767;

interface Sum {
  samples: number;
  squares: number;
  peak: number;
  clipped: number;
  voiced: number;
  least: number;
  most: number;
}

const nothing = (): Sum => ({
  samples: 0,
  squares: 0,
  peak: 0,
  clipped: 0,
  voiced: 0,
  least: LARGEST,
  most: -LARGEST - 1,
});

export function createListener(rateHz: number, detector: VoiceDetector): Listener {
  const speech = createSpeechLevel(rateHz);
  let recent = nothing();
  let all = nothing();

  const read = (sum: Sum): Reading => {
    const { samples, squares, peak, clipped, voiced, least, most } = sum;
    const ms = (samples * 1000) / rateHz;
    if (samples === 0) {
      return { ms, rmsDb: SILENCE_DBFS, peakDb: SILENCE_DBFS, clipped, isDigitalSilence: false, speechMs: 0 };
    }
    return {
      ms,
      rmsDb: levelOfPower(squares / samples),
      peakDb: levelOfPower(peak * peak),
      clipped,
      isDigitalSilence: least === most,
      speechMs: (voiced * 1000) / rateHz,
    };
  };

  return {
    hear(pcm) {
      const samples = samplesOf(pcm);
      speech.hear(samples);
      for (const sample of samples) {
        const magnitude = sample < 0 ? -sample : sample;
        recent.squares += sample * sample;
        if (magnitude > recent.peak) recent.peak = magnitude;
        if (magnitude >= LARGEST) recent.clipped += 1;
        if (sample < recent.least) recent.least = sample;
        if (sample > recent.most) recent.most = sample;
      }
      recent.samples += samples.length;
      detector.hear(samples, (isVoiced, count) => {
        if (isVoiced) recent.voiced += count;
      });
    },
    take() {
      const reading = read(recent);
      all = add(all, recent);
      recent = nothing();
      return reading;
    },
    total: () => ({ ...read(add(all, recent)), speechDb: speech.speechDb() }),
  };
}

function add(one: Sum, other: Sum): Sum {
  return {
    samples: one.samples + other.samples,
    squares: one.squares + other.squares,
    peak: Math.max(one.peak, other.peak),
    clipped: one.clipped + other.clipped,
    voiced: one.voiced + other.voiced,
    least: Math.min(one.least, other.least),
    most: Math.max(one.most, other.most),
  };
}
