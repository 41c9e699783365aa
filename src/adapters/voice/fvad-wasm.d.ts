declare module '@echogarden/fvad-wasm' {
  /** The parts of the compiled WebRTC voice detector that are used here. Addresses are bytes in its memory. */
  interface Fvad {
    readonly HEAP16: Int16Array;
    _malloc(bytes: number): number;
    _free(address: number): void;
    _fvad_new(): number;
    _fvad_free(handle: number): void;
    _fvad_set_mode(handle: number, mode: number): number;
    _fvad_set_sample_rate(handle: number, rateHz: number): number;
    /** @returns 1 voice, 0 no voice, -1 wrong length */
    _fvad_process(handle: number, address: number, samples: number): number;
  }
  export default function load(): Promise<Fvad>;
}
