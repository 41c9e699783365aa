/** Detects speech in a room's sound. One per microphone; keeps state between pieces of sound. */
export interface VoiceDetector {
  /**
   * Judges the next piece of mono sound. Reports decided stretches in order; a remainder shorter than a frame is kept for the next call.
   */
  hear(pcm: Int16Array, report: (voiced: boolean, samples: number) => void): void;
  /** Judges the last second or so as a whole; null until it has heard enough. Absent if the detector cannot do this. */
  talk?(): Talk | null;
  close(): void;
}

/** How likely speech is, and the level of the room. */
export interface Talk {
  /** Above 0: speech is more likely than not; each further 1 multiplies the odds by 2.7. */
  readonly score: number;
  /** The usual level of the room in the frequency band of speech, dBFS. */
  readonly roomDb: number;
}

/** @param rateHz of the sound to judge */
export type CreateVoiceDetector = (rateHz: number) => VoiceDetector;
