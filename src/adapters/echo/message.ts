import type { Place } from '../../ports/audio.ts';

/** A piece of captured sound, and when its last sample was captured. */
export interface CapturedPiece {
  readonly pcm: Uint8Array;
  readonly capturedAt: number;
}

/** Messages to the canceller's thread. */
export type ToEchoThread =
  | {
      readonly type: 'played';
      readonly pcm: Uint8Array;
      readonly heardAt: number;
      readonly goesOn: boolean;
      readonly place: Place | null;
    }
  | { readonly type: 'flushed'; readonly at: number; readonly place: Place | null }
  | { readonly type: 'captured'; readonly pieces: readonly CapturedPiece[] };

/** Messages from the canceller's thread: `ready` once, then one `frames` for each `captured`, with the same number of pieces. */
export type FromEchoThread =
  | { readonly type: 'ready' }
  | {
      readonly type: 'frames';
      readonly pieces: readonly CapturedPiece[];
      /** There was nothing to cancel. */
      readonly rests: boolean;
      /** The echo was found at a new delay. */
      readonly found: boolean;
    };

export interface EchoRates {
  readonly heardRateHz: number;
  readonly playedRateHz: number;
}
