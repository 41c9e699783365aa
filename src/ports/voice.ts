/** Tells speech from the room. One per microphone; holds the state between pieces of sound. */
export interface VoiceDetector {
  /**
   * Judges the next piece of mono sound. Reports, in order, stretches that have been decided; what is shorter than a
   * frame is kept for the next call.
   */
  hear(pcm: Int16Array, report: (voiced: boolean, samples: number) => void): void;
  close(): void;
}

/** @param rateHz of the sound that will be heard */
export type CreateVoiceDetector = (rateHz: number) => VoiceDetector;
