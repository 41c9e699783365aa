/** The loudspeaker was recognised in the microphone. */
export interface EchoMeasure {
  /** From the moment at which the loudspeaker was said to be heard to the moment at which the microphone heard it. */
  readonly delayMs: number;
  /** Level of the echo (its direct sound and first reflections) against what was played. */
  readonly gainDb: number;
  /** 0 to 1: how clearly it stands out. */
  readonly confidence: number;
}
