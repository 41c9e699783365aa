declare module '@ennuicastr/webrtcaec3.js' {
  /** The parts of the compiled WebRTC echo canceller that are used here. Samples run from -1 to 1. */
  export interface Aec3 {
    /** Takes the loudspeaker's next samples. */
    analyze(channels: Float32Array[], options: { sampleRateIn: number }): void;
    /** Takes the microphone's next samples; whole frames of 10 ms come out, as many as went in. */
    process(
      out: Float32Array[],
      channels: Float32Array[],
      options: { sampleRateIn: number; sampleRateOut: number },
    ): void;
    free(): void;
  }
  export interface Aec3Library {
    readonly AEC3: new (sampleRate: number, renderChannels: number, captureChannels: number) => Aec3;
  }
  /** Compiles the canceller. Installs handlers for `uncaughtException` and `unhandledRejection` in the process. */
  export default function load(): Promise<Aec3Library>;
}
