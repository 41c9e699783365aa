import { applyGain, volumeGain } from '../core/audio/pcm.ts';
import type { LaneEvent } from '../core/lane/event.ts';
import type { OpenPlayback, Playback } from '../ports/audio.ts';
import type { LatencyRecorder } from './latency.ts';

/** What the mouth of a lane is made of. */
export interface MouthWorld {
  readonly openPlayback: OpenPlayback;
  /** From the arrival of a sound to its being heard. */
  readonly wireToSpeaker: LatencyRecorder;
  /** 0-100. */
  readonly volume: number;
  post(event: LaneEvent): void;
}

/** The way of the sound from the lane to the loudspeaker. Decides nothing. */
export class Mouth {
  private readonly world: MouthWorld;
  private playback: Playback | null = null;

  constructor(world: MouthWorld) {
    this.world = world;
  }

  /** Opens the loudspeaker, which stays open for the lane's life; what it can't do comes as `audio_fault`. */
  async open(): Promise<void> {
    const { openPlayback, volume, post } = this.world;
    try {
      this.playback = await openPlayback({
        fault: (fault) => post({ type: 'audio_fault', device: 'playback', ...fault }),
        back: () => {},
        measured: () => {},
      });
      this.playback.mixer?.setVolume(volume);
    } catch (error) {
      const message = error instanceof Error ? error.message : 'unknown error';
      post({ type: 'audio_fault', device: 'playback', code: 'failed', message });
    }
  }

  /** @param receivedAt when it came off the wire, for sound that found the loudspeaker free */
  play(pcm: Uint8Array, receivedAt: number | null): void {
    const { playback } = this;
    if (playback === null) return;
    const gain = playback.mixer === null ? volumeGain(this.world.volume) : 1;
    const heardAt = playback.write(applyGain(pcm, gain));
    if (receivedAt !== null) this.world.wireToSpeaker.record(heardAt - receivedAt);
  }

  flush(): void {
    this.playback?.flush();
  }

  async close(): Promise<void> {
    await this.playback?.close();
  }
}
