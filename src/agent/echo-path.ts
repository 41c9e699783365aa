import type { LaneEvent } from '../core/lane/event.ts';
import type { EchoCanceller, OpenEchoCanceller } from '../ports/echo.ts';

/** What the way through the canceller is made of. */
export interface EchoPathWorld {
  /** Absent where echo can't be cancelled. */
  readonly openEchoCanceller?: OpenEchoCanceller | undefined;
  readonly rateHz: number;
  readonly playedRateHz: number;
  post(event: LaneEvent): void;
}

/** Takes the next captured sound, cancelled or as it was captured. */
export type Deliver = (pcm: Uint8Array, capturedAt: number) => void;

/** The way of one opened microphone's sound through the canceller, where there is one; around it, until it is ready. */
export class EchoPath {
  private readonly world: EchoPathWorld;
  private readonly deliver: Deliver;
  private canceller: EchoCanceller | null = null;
  private isReady = false;

  constructor(world: EchoPathWorld, deliver: Deliver) {
    this.world = world;
    this.deliver = deliver;
  }

  /** Whether what is delivered has been through the canceller. */
  get isCancelling(): boolean {
    return this.isReady;
  }

  cancel(on: boolean): void {
    if (!on) return this.close();
    if (this.canceller !== null) return;
    const { openEchoCanceller, rateHz, playedRateHz, post } = this.world;
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
          post({ type: 'canceller', status: 'ready', message: '' });
        },
        frames: this.deliver,
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
    if (this.canceller !== null && this.isReady) this.canceller.captured(pcm, capturedAt);
    else this.deliver(pcm, capturedAt);
  }

  played(pcm: Uint8Array, heardAt: number, goesOn: boolean): void {
    this.canceller?.played(pcm, heardAt, goesOn);
  }

  flushed(at: number): void {
    this.canceller?.flushed(at);
  }

  /** What the canceller still holds is delivered as it was captured. */
  close(): void {
    const { canceller } = this;
    this.canceller = null;
    this.isReady = false;
    canceller?.close();
  }
}
