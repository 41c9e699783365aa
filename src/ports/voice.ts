/** Tells speech from the room. One per microphone; holds the state between pieces of sound. */
export interface VoiceDetector {
  /**
   * Judges the next piece of mono sound. Reports, in order, stretches that have been decided; what is shorter than a
   * frame is kept for the next call.
   */
  hear(pcm: Int16Array, report: (voiced: boolean, samples: number) => void): void;
  /** Judges the last second or so as a whole; null until it has heard enough. Left out by a detector that cannot. */
  talk?(): Talk | null;
  close(): void;
}

/** How sure it is that somebody speaks, and before which room. */
export interface Talk {
  /** Above 0: somebody speaks rather than not; each 1 more makes it 2.7 times as likely. */
  readonly score: number;
  /** The usual level of the room in the band of speech, dBFS. */
  readonly roomDb: number;
}

/** @param rateHz of the sound that will be heard */
export type CreateVoiceDetector = (rateHz: number) => VoiceDetector;
