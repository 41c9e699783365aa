import type { Buffering } from '../../../core/playout/buffer/device-timeline.ts';
import type { AudioFault } from '../../../ports/audio.ts';
import type { Shape } from './format.ts';
import type { Child, ChildSpec } from './process.ts';
import type { NamedDevice } from './stderr-classifier.ts';

/** What a child said of itself. */
export type PlaybackNews =
  | { readonly kind: 'ready'; readonly buffering: Buffering }
  | { readonly kind: 'again' }
  | null;

/** A kind of child that takes sound on its standard input. */
export interface PlaybackChild {
  readonly device: () => NamedDevice;
  spec(): ChildSpec;
  shape(): Shape;
  /** How it says that it is ready; null: it does not, and is ready as soon as it runs. */
  readonly readiness: { read(line: string): PlaybackNews } | null;
  alternative?(fault: AudioFault): string | null;
  /** Between a write and its sounding, where nothing else is known. */
  readonly latencyMs: number;
  /**
   * It will be kept running between sounds, or no longer.
   * @returns `again` when it must be started again for it
   */
  runOn?(on: boolean): 'again' | null;
  /** Looks at the running child's health from time to time; whether it must be started again, in a quiet moment or now. */
  inspect?(child: Child): 'quiet' | 'now' | null;
}
