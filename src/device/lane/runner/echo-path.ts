import type { Place } from '../../../ports/audio.ts';
import type { EchoCanceller, OpenEchoCanceller } from '../../../ports/echo.ts';
import { cancellerBlock } from '../../../sound/canceller/canceller-filter.ts';
import { BYTES_PER_SAMPLE, durationMs } from '../../../sound/pcm.ts';
import type { LaneEvent } from '../state/lane-event.ts';

/** Dependencies of the path through the canceller. */
export interface EchoPathDeps {
  /** Absent if this machine cannot cancel echo. */
  readonly openEchoCanceller?: OpenEchoCanceller | undefined;
  readonly rateHz: number;
  readonly playedRateHz: number;
  /** Length of the chunks that the delivered sound is cut into. */
  readonly chunkMs: number;
  post(event: LaneEvent): void;
}

/** Takes the next captured sound, with or without cancelled echo. */
export type Deliver = (pcm: Uint8Array, capturedAt: number) => void;

/** The path of one microphone's sound through the canceller, or past it until the canceller is ready. */
export class EchoPath {
  private readonly deps: EchoPathDeps;
  private readonly deliver: Deliver;
  /** Delivered bytes of an incomplete chunk. */
  private readonly heldBytes: () => number;
  private canceller: EchoCanceller | null = null;
  private isReady = false;
  /** Bytes in the canceller. */
  private given = 0;

  constructor(deps: EchoPathDeps, deliver: Deliver, heldBytes: () => number) {
    this.deps = deps;
    this.deliver = deliver;
    this.heldBytes = heldBytes;
  }

  /** Whether delivered sound has passed through the canceller. */
  get isCancelling(): boolean {
    return this.isReady;
  }

  /** Bytes in the canceller. */
  get heldInside(): number {
    return this.isReady ? this.given : 0;
  }

  cancel(on: boolean): void {
    if (!on) return this.close();
    if (this.canceller !== null) return;
    const { openEchoCanceller, rateHz, playedRateHz, post } = this.deps;
    post({ type: 'canceller', status: 'starting', message: '' });
    if (openEchoCanceller === undefined) {
      post({ type: 'canceller', status: 'failed', message: 'this machine has no echo canceller' });
      return;
    }
    this.canceller = openEchoCanceller(
      { heardRateHz: rateHz, playedRateHz },
      {
        ready: () => {
          this.isReady = true;
          this.given = 0;
          post({ type: 'canceller', status: 'ready', message: '' });
        },
        found: () => post({ type: 'canceller', status: 'found', message: '' }),
        frames: (pcm, capturedAt) => {
          this.given -= pcm.byteLength;
          this.deliver(pcm, capturedAt);
        },
        // Called before the held sound comes back: that sound still contains its echo, and the gate must know.
        failed: (message) => {
          this.canceller = null;
          this.isReady = false;
          post({ type: 'canceller', status: 'failed', message });
        },
      },
    );
  }

  captured(pcm: Uint8Array, capturedAt: number): void {
    const { canceller } = this;
    if (canceller === null || !this.isReady) return this.deliver(pcm, capturedAt);
    const missingMs = this.missingMs(pcm.byteLength);
    this.given += pcm.byteLength;
    canceller.captured(pcm, capturedAt, missingMs);
  }

  played(pcm: Uint8Array, heardAt: number, goesOn: boolean, place: Place | null | undefined): void {
    this.canceller?.played(pcm, heardAt, goesOn, place);
  }

  flushed(at: number, place: Place | null | undefined): void {
    this.canceller?.flushed(at, place);
  }

  /** Delivers the sound in the canceller as it was captured. */
  close(): void {
    const { canceller } = this;
    this.canceller = null;
    this.isReady = false;
    canceller?.close();
  }

  /** Milliseconds that the current chunk still lacks after these bytes. */
  private missingMs(bytes: number): number {
    const { rateHz, chunkMs } = this.deps;
    const chunkBytes = Math.round((chunkMs * rateHz) / 1000) * BYTES_PER_SAMPLE;
    // If a chunk is not a whole number of the canceller's blocks, the canceller holds back up to one block.
    const blockBytes = cancellerBlock(rateHz) * BYTES_PER_SAMPLE;
    const kept = chunkBytes % blockBytes === 0 ? 0 : blockBytes;
    const begun = (this.heldBytes() + this.given + chunkBytes - kept) % chunkBytes;
    return durationMs(Math.max(0, chunkBytes - begun - bytes), rateHz);
  }
}
