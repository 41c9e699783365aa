import type { VoiceDetector } from '../../ports/voice.ts';
import { createWordGapFinder, type SplitRules, type WordGap } from './word-gaps.ts';

/** Rules for cutting sound into sentences (ms). */
export interface SegmenterRules {
  /** Silence after speech that confirms a sentence. */
  silenceThresholdMs: number;
  /** Less voice than this is a cough or a chair, not a sentence. */
  minSpeechMs: number;
  /** A sentence is cut at this length even without a pause. */
  maxSegmentMs: number;
  /** How to cut a sentence that continues without a pause; null: only at `maxSegmentMs`. */
  split: SplitRules | null;
}

/** Positions are sample frames since the first sound of this input. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** `from` and `to` include soft beginnings and ends; `voice` covers the detected voice only. */
export type SegmentEvent =
  | { kind: 'started'; from: number }
  | { kind: 'dropped' }
  | { kind: 'confirmed'; from: number; to: number; voice: Stretch; voicedMs: number };

export type ConfirmedSegment = SegmentEvent & { kind: 'confirmed' };

/** Surplus of voice over silence (ms) that begins a sentence, so that single frames of noise do not. */
const ONSET_MS = 90;
/** Voice in a row (ms) that ends a pause: shorter clicks in a quiet room count as silence. */
const RESUME_MS = 60;
/** Sound (ms) kept before the onset, so that a soft beginning is not cut off. */
const PRE_ROLL_MS = 240;
/** Sound (ms) kept after the last voice, so that a soft end is not cut off. */
const POST_ROLL_MS = 160;
/** Share of the maximum length from which a shorter pause ends the sentence. */
const IMPATIENT_SHARE = 0.75;
/** Length of the shorter pause (ms). */
const IMPATIENT_PAUSE_MS = 250;
/** Cuts a stream of sound into sentences. */
export interface Segmenter {
  readonly rules: SegmenterRules;
  readonly speaking: boolean;
  /** Voice in the running sentence (ms). */
  readonly voicedMs: number;
  /** Stretch of the running sentence from its first voice to its last. */
  readonly voice: Stretch;
  /** Sound before this position is no longer needed. */
  readonly neededFrom: number;
  hear(mono: Int16Array): SegmentEvent[];
  /** Confirms or drops the running sentence, without waiting for silence. */
  flush(): SegmentEvent[];
  close(): void;
}

/** @param detector owned by the segmenter, which closes it */
export function createSegmenter(detector: VoiceDetector, rateHz: number, rules: SegmenterRules): Segmenter {
  let position = 0;
  let speaking = false;
  let from = 0;
  let voiceFrom = 0;
  let lastVoice = 0;
  let takenTo = 0;
  let onset = 0;
  let voicedMs = 0;
  let silenceMs = 0;
  let resume = 0;
  /** The running sentence is the remainder of one that was cut. */
  let isRest = false;
  const gaps = createWordGapFinder(() => rules.split);
  const frames = (ms: number): number => Math.round((ms * rateHz) / 1000);
  const events: SegmentEvent[] = [];

  const stop = (): SegmentEvent => {
    const heardMs = voicedMs;
    speaking = false;
    onset = 0;
    voicedMs = 0;
    if (heardMs < rules.minSpeechMs && !(isRest && heardMs > 0)) return { kind: 'dropped' };
    takenTo = Math.min(position, lastVoice + frames(POST_ROLL_MS));
    return {
      kind: 'confirmed',
      from,
      to: takenTo,
      voice: { from: voiceFrom, to: lastVoice },
      voicedMs: heardMs,
    };
  };

  const idle = (voiced: boolean, ms: number, events: SegmentEvent[]): void => {
    if (voiced && onset === 0) voiceFrom = position - frames(ms);
    onset = voiced ? onset + ms : Math.max(0, onset - ms);
    if (onset < ONSET_MS) return;
    speaking = true;
    from = Math.max(0, position - frames(onset + PRE_ROLL_MS), lastVoice, takenTo);
    lastVoice = position;
    voicedMs = onset;
    silenceMs = 0;
    resume = 0;
    isRest = false;
    gaps.restart();
    events.push({ kind: 'started', from });
  };

  /** Ends the sentence in a gap between two words; the next sentence begins there. */
  const split = (gap: WordGap, events: SegmentEvent[]): void => {
    const { at, voicedMs: before } = gap;
    const voice = { from: voiceFrom, to: at };
    events.push({ kind: 'confirmed', from, to: at, voice, voicedMs: before }, { kind: 'started', from: at });
    from = at;
    voiceFrom = at;
    voicedMs -= before;
    isRest = true;
    gaps.restart();
  };

  const listen = (voiced: boolean, ms: number, events: SegmentEvent[]): void => {
    const at = position - frames(ms);
    const gap = gaps.hear(voiced, ms, at, ((at - voiceFrom) / rateHz) * 1000, voicedMs);
    if (gap !== null) split(gap, events);
    resume = voiced ? resume + ms : 0;
    silenceMs += ms;
    if (voiced) voicedMs += ms;
    if (resume >= RESUME_MS || (voiced && silenceMs <= RESUME_MS)) {
      silenceMs = 0;
      lastVoice = position;
    }
    const lengthMs = ((position - from) / rateHz) * 1000;
    const pauseMs =
      lengthMs > rules.maxSegmentMs * IMPATIENT_SHARE
        ? Math.min(IMPATIENT_PAUSE_MS, rules.silenceThresholdMs)
        : rules.silenceThresholdMs;
    if (silenceMs >= pauseMs || lengthMs >= rules.maxSegmentMs) events.push(stop());
  };

  return {
    rules,
    get speaking() {
      return speaking;
    },
    get voicedMs() {
      return speaking ? voicedMs : 0;
    },
    get voice() {
      return { from: voiceFrom, to: lastVoice };
    },
    get neededFrom() {
      return speaking ? from : Math.max(0, position - frames(onset + PRE_ROLL_MS + ONSET_MS));
    },
    hear(mono) {
      detector.hear(mono, (voiced, samples) => {
        position += samples;
        const ms = (samples / rateHz) * 1000;
        if (speaking) listen(voiced, ms, events);
        else idle(voiced, ms, events);
      });
      return events.splice(0);
    },
    flush() {
      return speaking ? [stop()] : [];
    },
    close() {
      detector.close();
    },
  };
}
