import type { VoiceDetector } from '../../ports/voice.ts';
import type { Span } from './segment-times.ts';
import {
  createSegmenter,
  type SegmentEvent,
  type Segmenter,
  type SegmenterRules,
  type Stretch,
} from './segmenter.ts';
import { createSoundBuffer } from './sound-buffer.ts';

/** A task's sound in one format: cut into sentences, kept while a sentence needs it, with its place in the stream. */
export class InputSound {
  readonly segmenter: Segmenter;
  private readonly rateHz: number;
  private readonly beginS: number;
  private readonly kept = createSoundBuffer();

  /** @param beginS start of this sound within the stream's audio (s) */
  constructor(detector: VoiceDetector, rateHz: number, beginS: number, rules: SegmenterRules) {
    this.segmenter = createSegmenter(detector, rateHz, rules);
    this.rateHz = rateHz;
    this.beginS = beginS;
  }

  hear(mono: Int16Array): SegmentEvent[] {
    this.kept.append(mono);
    return this.segmenter.hear(mono);
  }

  /** Releases sound that no sentence needs any more. */
  forget(): void {
    this.kept.forget(this.segmenter.neededFrom);
  }

  cut({ from, to }: Stretch): Int16Array {
    return this.kept.cut(from, to);
  }

  /** Converts a stretch to seconds of the stream's audio. */
  spanOf({ from, to }: Stretch): Span {
    return { start: this.beginS + from / this.rateHz, end: this.beginS + to / this.rateHz };
  }
}
