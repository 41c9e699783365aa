/** The loudspeaker's sound was recognised in the microphone's. */
export interface EchoMeasure {
  /** Time from the sound's estimated playout to its arrival at the microphone. */
  readonly delayMs: number;
  /** Level of the echo (its direct sound and first reflections) relative to the played sound. */
  readonly gainDb: number;
  /** 0 to 1: how clearly the echo stands out. */
  readonly confidence: number;
}
