import type { AudioFault } from '../../../ports/audio.ts';
import type { Buffering } from '../../../sound/playback-buffer/device-timeline.ts';
import type { Shape } from './format.ts';
import type { Child, ChildSpec } from './process.ts';
import type { NamedDevice } from './stderr-classifier.ts';

/** A report of a child about itself. */
export type PlaybackNews =
  | { readonly kind: 'ready'; readonly buffering: Buffering }
  | { readonly kind: 'again' }
  | null;

/** A kind of child that takes sound on its standard input. */
export interface PlaybackChild {
  readonly device: () => NamedDevice;
  spec(): ChildSpec;
  shape(): Shape;
  /** How the child reports that it is ready; null: it reports nothing, and counts as ready once it runs. */
  readonly readiness: { read(line: string): PlaybackNews } | null;
  alternative?(fault: AudioFault): string | null;
  /** Delay from a write to the sound (milliseconds), used when nothing better is known. */
  readonly latencyMs: number;
  /**
   * Sets whether the device keeps running between sounds.
   * @returns `again` when this needs a restart
   */
  runOn?(on: boolean): 'again' | null;
  /** Checks the running child's health from time to time. Returns when to restart it: in a quiet moment, or now; null: no need. */
  inspect?(child: Child): 'quiet' | 'now' | null;
}
