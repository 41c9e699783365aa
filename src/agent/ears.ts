import { createChunker } from '../core/audio/chunker.ts';
import { measureFrames } from '../core/audio/levels.ts';
import { samplesOf } from '../core/audio/pcm.ts';
import type { LaneEvent } from '../core/lane/event.ts';
import type { Capture, OpenCapture } from '../ports/audio.ts';
import type { Log } from '../ports/log.ts';
import type { CreateVoiceDetector, VoiceDetector } from '../ports/voice.ts';

/** What the ears of a lane are made of. */
export interface EarsWorld {
  readonly lane: string;
  readonly log: Log;
  readonly openCapture: OpenCapture;
  readonly createVoiceDetector: CreateVoiceDetector;
  /** Of the sound that is captured and sent. */
  readonly rateHz: number;
  readonly chunkMs: number;
  post(event: LaneEvent): void;
}

/** So much of a chunk must be voiced to count as speech: a syllable, not a click. */
const SYLLABLE_MS = 80;

/** The way of the sound from the microphone to the lane: exact chunks, measured and judged. Decides nothing. */
export class Ears {
  private readonly world: EarsWorld;
  private capture: { close(): Promise<void> } | null = null;

  constructor(world: EarsWorld) {
    this.world = world;
  }

  /** Opens the microphone; what it can't do comes as `audio_fault`. */
  open(): void {
    const { rateHz, chunkMs, post } = this.world;
    const chunkSamples = Math.round((chunkMs * rateHz) / 1000);
    const chunker = createChunker({ chunkSamples, rateHz });
    const detector = this.world.createVoiceDetector(rateHz);
    // What a closed microphone still delivers must not reach the lane: it may have another one by then.
    let closed = false;
    let opened: Capture | null = null;
    this.capture = {
      close: async () => {
        closed = true;
        detector.close();
        await opened?.close();
      },
    };
    const opening = this.world.openCapture({
      frames: (pcm, capturedAt) => {
        if (closed) return;
        for (const chunk of chunker.push(pcm, capturedAt)) {
          const isSpeech = hearSpeech(detector, chunk.pcm, rateHz);
          const levels = { ...measureFrames(chunk.pcm, rateHz), isSpeech };
          post({ type: 'captured', capturedAt: chunk.capturedAt, pcm: chunk.pcm, levels });
        }
      },
      ended: () => {
        if (!closed) post({ type: 'capture_ended' });
      },
      fault: (fault) => {
        if (!closed) post({ type: 'audio_fault', device: 'capture', ...fault });
      },
    });
    opening.then(
      (capture) => {
        opened = capture;
        if (closed) void capture.close();
      },
      (error: unknown) => {
        if (closed) return;
        post({ type: 'audio_fault', device: 'capture', code: 'failed', message: messageOf(error) });
      },
    );
  }

  /** Frees the microphone. */
  async close(): Promise<void> {
    const { capture } = this;
    this.capture = null;
    try {
      await capture?.close();
    } catch (error) {
      const { lane, log } = this.world;
      log.warn({ lane, error: messageOf(error) }, 'the microphone did not close cleanly');
    }
  }
}

function hearSpeech(detector: VoiceDetector, pcm: Uint8Array, rateHz: number): boolean {
  let voiced = 0;
  detector.hear(samplesOf(pcm), (isVoiced, samples) => {
    if (isVoiced) voiced += samples;
  });
  return (voiced * 1000) / rateHz >= SYLLABLE_MS;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown error';
}
