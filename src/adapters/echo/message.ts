/** What the canceller's thread is told. */
export type ToEchoThread =
  | {
      readonly type: 'played';
      readonly pcm: Uint8Array;
      readonly heardAt: number;
      readonly goesOn: boolean;
    }
  | { readonly type: 'flushed'; readonly at: number }
  | { readonly type: 'captured'; readonly pcm: Uint8Array; readonly capturedAt: number };

/** What it answers: `ready` once, then one `frames` for each `captured`. */
export type FromEchoThread =
  | { readonly type: 'ready' }
  | { readonly type: 'frames'; readonly pcm: Uint8Array; readonly capturedAt: number };

export interface EchoRates {
  readonly heardRateHz: number;
  readonly playedRateHz: number;
}
