/**
 * How a lane hears and speaks. Audio is always PCM, signed 16-bit little-endian, mono,
 * at the lane's stream rate; times are monotonic milliseconds of the agent's clock.
 */

/** What went wrong with an audio device, in words an operator can act on. */
export interface AudioFault {
  readonly code: 'not_found' | 'busy' | 'lost' | 'hung' | 'format' | 'too_fast' | 'failed';
  readonly message: string;
}

/** Where a capture driver delivers. Called from the event loop, never re-entrantly, never after `close()`. */
export interface CaptureSink {
  /**
   * A piece of recorded sound of any length (whole samples).
   * @param pcm owned by the receiver from now on
   * @param capturedAt when its last sample was captured
   */
  frames(pcm: Uint8Array, capturedAt: number): void;
  /** A finite source has delivered its last sound; silence follows. */
  ended(): void;
  /** The device failed; the driver keeps trying unless it was closed. */
  fault(fault: AudioFault): void;
  /** Something else turns the gain that the driver keeps (`present`), or does no more. */
  gainChanged?(change: { readonly present: boolean; readonly message: string }): void;
}

/** What a device has been through since it was opened, for the owner's eyes. */
export interface DeviceFigures {
  /** How often it was started, the first time included. */
  readonly starts: number;
  readonly failures: number;
  /** Overruns of a capture, underruns of a playback while it sounded. */
  readonly xruns: number;
  readonly hangs: number;
  readonly lastFault: AudioFault | null;
}

/** A running capture. */
export interface Capture {
  /** Absent where there is no device. */
  readonly figures?: DeviceFigures | undefined;
  /**
   * Whether to deliver in short pieces from now on: for who works on sound and must not begin when a chunk is complete. A
   * device that has to be started again for it loses a moment of sound. Absent where the pieces are as they are.
   */
  useShortPeriods?(on: boolean): void;
  /** Stops delivering at once and frees the device. */
  close(): Promise<void>;
}

/** What a playback driver tells its owner. Called from the event loop, never re-entrantly, never after `close()`. */
export interface PlaybackSink {
  /** The device failed, or fails for another reason; the driver keeps trying unless it was closed. Told once for each until `back`. */
  fault(fault: AudioFault): void;
  /** It sounds again after a fault; how loud is for the owner to say again. */
  back(): void;
  /** So much of what has been written was never heard, nor will be: the device was away. */
  missed(ms: number): void;
  /** By the device's own measure, what has been written so far will have been heard at this moment: not when the last write said. */
  measured(heardUntil: number): void;
}

/** A device's own volume control. */
export interface Mixer {
  /** @param percent 0-100 */
  setVolume(percent: number): void;
}

/** Where in the sound of a device a piece lies. */
export interface Place {
  /** Another number after each break in the device's sound. */
  readonly run: number;
  /** Samples since the run began, at the lane's rate; they follow each other by the device's own clock. */
  readonly sample: number;
  /**
   * Samples are counted on from the run before: what lies behind this one had been given to the device, and was not heard before
   * the break. Null where the count begins again.
   */
  readonly heardFrom: number | null;
}

/** What a write came to, as far as is known when it is made. */
export interface Written {
  /** When its first sample is heard. */
  readonly from: number;
  /** When all that has been written so far will have been heard; `measured` corrects it later. */
  readonly until: number;
}

/** A running playback. */
export interface Playback {
  /** Sounds right behind what was written before, or at once when nothing is waiting. */
  write(pcm: Uint8Array): Written;
  /**
   * Forgets what has been written but not heard; a device that goes on from the very sample fades out first.
   * @returns the moment until which something is heard all the same; nothing: it is silent at once
   */
  flush(): number | undefined;
  /**
   * The place behind all that has been written; null where the device does not run without a break, and its sound is where
   * the clock says.
   */
  readonly place?: Place | null | undefined;
  /**
   * Whether to play silence between the sounds from now on, so that the device's clock is never broken; then a flush lets
   * run out what the device has already been given, a fraction of a second. Absent where nothing ever breaks it.
   */
  runOn?(on: boolean): void;
  /** Null while the device has none, which may change with `back`: then the sound is scaled before it is written. */
  readonly mixer: Mixer | null;
  /** Absent where there is no device. */
  readonly figures?: DeviceFigures | undefined;
  close(): Promise<void>;
}

/**
 * Makes a capture run, hastened from the start or not. Throws an `AudioFault`-shaped error only for what can never work (a
 * missing file).
 */
export type OpenCapture = (sink: CaptureSink, shortPeriods?: boolean) => Promise<Capture>;
/** Makes a playback run. */
export type OpenPlayback = (sink: PlaybackSink) => Promise<Playback>;
