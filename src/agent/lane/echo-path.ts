import { cancellerBlock } from '../../core/audio/canceller/canceller-filter.ts';
import { BYTES_PER_SAMPLE, durationMs } from '../../core/audio/pcm.ts';
import type { LaneEvent } from '../../core/lane/event.ts';
import type { Place } from '../../ports/audio.ts';
import type { EchoCanceller, OpenEchoCanceller } from '../../ports/echo.ts';

/** What the way through the canceller is made of. */
export interface EchoPathDeps {
  /** Absent where echo can't be cancelled. */
  readonly openEchoCanceller?: OpenEchoCanceller | undefined;
  readonly rateHz: number;
  readonly playedRateHz: number;
  /** What is delivered is cut into chunks of this length. */
  readonly chunkMs: number;
  post(event: LaneEvent): void;
}

/** Takes the next captured sound, cancelled or as it was captured. */
export type Deliver = (pcm: Uint8Array, capturedAt: number) => void;

/** The way of one opened microphone's sound through the canceller, where there is one; around it, until it is ready. */
export class EchoPath {
  private readonly deps: EchoPathDeps;
  private readonly deliver: Deliver;
  /** Bytes that were delivered and wait for the rest of their chunk. */
  private readonly heldBytes: () => number;
  private canceller: EchoCanceller | null = null;
  private isReady = false;
  /** Bytes that are with the canceller. */
  private given = 0;

  constructor(deps: EchoPathDeps, deliver: Deliver, heldBytes: () => number) {
    this.deps = deps;
    this.deliver = deliver;
    this.heldBytes = heldBytes;
  }

  /** Whether what is delivered has been through the canceller. */
  get isCancelling(): boolean {
    return this.isReady;
  }

  cancel(on: boolean): void {
    if (!on) return this.close();
    if (this.canceller !== null) return;
    const { openEchoCanceller, rateHz, playedRateHz, post } = this.deps;
    post({ type: 'canceller', status: 'starting', message: '' });
    if (openEchoCanceller === undefined) {
      post({ type: 'canceller', status: 'failed', message: 'there is no canceller here' });
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
        // Told first: what it gives back has its echo in it, and the gate must know.
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

  /** What the canceller still holds is delivered as it was captured. */
  close(): void {
    const { canceller } = this;
    this.canceller = null;
    this.isReady = false;
    canceller?.close();
  }

  /** How much is missing of a chunk when this many bytes have come. */
  private missingMs(bytes: number): number {
    const { rateHz, chunkMs } = this.deps;
    const chunkBytes = Math.round((chunkMs * rateHz) / 1000) * BYTES_PER_SAMPLE;
    // Where a chunk is no whole number of its blocks, the canceller keeps up to one of them back.
    const blockBytes = cancellerBlock(rateHz) * BYTES_PER_SAMPLE;
    const kept = chunkBytes % blockBytes === 0 ? 0 : blockBytes;
    const begun = (this.heldBytes() + this.given + chunkBytes - kept) % chunkBytes;
    return durationMs(Math.max(0, chunkBytes - begun - bytes), rateHz);
  }
}
