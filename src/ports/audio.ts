/**
 * A lane's sound devices. Audio is always PCM, signed 16-bit little-endian, mono, at the lane's stream rate. Times are
 * monotonic milliseconds of the agent's clock.
 */

/** Faults of an audio device, each with its explanation for owners. The table in docs/operate.md is generated from this. */
export const AUDIO_FAULTS = {
  not_found: {
    means: 'There is no such device or file.',
    todo: 'Plug it in, or configure another one: `dragoman devices` lists them.',
  },
  busy: {
    means: 'Another program uses it.',
    todo: 'End that program, or use another card: `dragoman devices` names the program.',
  },
  lost: {
    means: 'The device has disappeared.',
    todo: 'Plug it in again, and try another socket or cable. The agent keeps trying.',
  },
  hung: {
    means: 'It delivers or plays no sound and reports no error.',
    todo: 'Nothing the first time. If it persists: plug it in again, restart the sound server behind it, or use another card.',
  },
  format: {
    means: 'It accepts none of the sample rates and channel counts that were tried.',
    todo: 'Use a name that begins with `plughw:`, so that ALSA converts.',
  },
  too_fast: {
    means: 'It delivers more sound than its sample rate allows.',
    todo: 'Set another `sampleRate`. If it persists: use another card, this one does not keep time.',
  },
  failed: {
    means: 'Any other failure.',
    todo: 'Follow the log line: `dragoman devices` lists the available devices, and `dmesg` may say more.',
  },
} as const satisfies Record<string, { readonly means: string; readonly todo: string }>;

/** The fault of an audio device, worded so that an operator can act on it. */
export interface AudioFault {
  readonly code: keyof typeof AUDIO_FAULTS;
  readonly message: string;
}

/** Receives a capture driver's sound. Called from the event loop, never re-entrantly, never after `close()`. */
export interface CaptureSink {
  /**
   * A piece of recorded sound of any length (whole samples).
   * @param pcm owned by the receiver from now on
   * @param capturedAt when its last sample was captured
   */
  frames(pcm: Uint8Array, capturedAt: number): void;
  /** A finite source has delivered its last sound; silence follows. */
  ended(): void;
  /** The device failed; the driver retries until it is closed. */
  fault(fault: AudioFault): void;
  /** Another program changes the gain that the driver maintains (`present`), or has stopped doing so. */
  gainChanged?(change: { readonly present: boolean; readonly message: string }): void;
}

/** Counters since the device was opened, reported to the owner. */
export interface DeviceFigures {
  /** Number of starts, including the first. */
  readonly starts: number;
  readonly failures: number;
  /** Overruns of a capture; underruns of a playback during sound. */
  readonly xruns: number;
  readonly hangs: number;
  readonly lastFault: AudioFault | null;
}

/** A running capture. */
export interface Capture {
  /** Absent when there is no device. */
  readonly figures?: DeviceFigures | undefined;
  /**
   * Whether to deliver in short pieces from now on, for a consumer that needs time to process sound before a chunk is complete. If
   * this restarts the device, a moment of sound is lost. Absent when the length of the pieces is fixed.
   */
  useShortPeriods?(on: boolean): void;
  /** Stops at once and frees the device. */
  close(): Promise<void>;
}

/** Receives a playback driver's reports. Called from the event loop, never re-entrantly, never after `close()`. */
export interface PlaybackSink {
  /** The device failed, or now fails for another reason; the driver retries until closed. Each reason is reported once until `back`. */
  fault(fault: AudioFault): void;
  /** The device works again after a fault; the receiver has to set the volume again. */
  back(): void;
  /** How much of the written sound (ms) was lost while the device was away. */
  missed(ms: number): void;
  /** All sound written so far ends at `heardUntil`, by the device's own count. Replaces the estimate of the last write. */
  measured(heardUntil: number): void;
  /** The second device beside the loudspeaker has failed, or works again (null). The loudspeaker goes on. */
  also?(fault: AudioFault | null): void;
}

/** A device's own volume control. */
export interface Mixer {
  /** @param percent 0-100 */
  setVolume(percent: number): void;
}

/** A position in the sound of a device. */
export interface Place {
  /** Changes with each break in the device's sound. */
  readonly run: number;
  /**
   * Number of the sample, at the lane's rate, counted by the device's own clock. A new run counts from 0, except after an underrun
   * (see `heardFrom`).
   */
  readonly sample: number;
  /**
   * After an underrun, the new run continues the count of the previous one; this is the first sample that had not been played
   * when the sound broke off. Null: the count began anew.
   */
  readonly heardFrom: number | null;
}

/** The expected result of a write. */
export interface Written {
  /** When its first sample is heard. */
  readonly from: number;
  /** When all sound written so far will have ended; `measured` corrects it later. */
  readonly until: number;
}

/** A running playback. */
export interface Playback {
  /** Plays directly after earlier sound, or at once when nothing is waiting. */
  write(pcm: Uint8Array): Written;
  /**
   * Drops sound that was written but not yet heard. A device that can stop at any sample fades out first.
   * @returns the moment until which sound is still heard; undefined: it is silent at once
   */
  flush(): number | undefined;
  /**
   * The position after all written sound. Null when the device makes breaks: its sound is then placed by the clock.
   */
  readonly place?: Place | null | undefined;
  /**
   * Whether to play silence between sounds from now on, so that the device's clock never stops. A flush then still plays what the
   * device already holds, a fraction of a second. Absent when the device never stops.
   */
  runOn?(on: boolean): void;
  /** Null while the device has no volume control (this may change with `back`); the sound is then scaled before the write. */
  readonly mixer: Mixer | null;
  /** Absent when there is no device. */
  readonly figures?: DeviceFigures | undefined;
  close(): Promise<void>;
}

/**
 * Opens a capture, with short pieces from the start if asked for. Throws an `AudioFault`-shaped error only for a fault that retries
 * cannot fix, such as a missing file.
 */
export type OpenCapture = (sink: CaptureSink, shortPeriods?: boolean) => Promise<Capture>;
/** Opens a playback. */
export type OpenPlayback = (sink: PlaybackSink) => Promise<Playback>;

/**
 * Reports that sound cards may have been added, removed or released: a good moment to retry a missing device. It is called once for
 * a whole burst of changes, and also for changes that do not concern the listener.
 * @returns a function that stops the reports
 */
export type WhenCardsChange = (listener: () => void) => () => void;
