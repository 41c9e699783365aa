import type { Choices } from './choices.ts';
import type { OutMessage } from './outbox.ts';
import { joinPhrases } from './phrase-book.ts';
import type { SegmentTimes, Span } from './segment-times.ts';

/** A text of a sentence, in the spoken language or a translation. */
export interface Transcript {
  /** Id of the sentence. */
  readonly id: string;
  readonly language: string;
  readonly phrases: readonly string[];
  /** Number of the translation's part; undefined for the spoken language. */
  readonly part?: number;
  /** The audio that the text covers. */
  readonly span: Span;
}

/** @param type of the message, such as `validated_transcription` */
export function transcriptMessage(
  type: string,
  { id, language, phrases, part, span }: Transcript,
  choices: Choices,
  times: SegmentTimes,
): OutMessage {
  const partId = part === undefined ? {} : { translation_part_id: part };
  const ids = choices.transcriptIds ? { transcription_id: id, ...partId } : {};
  const text = joinPhrases(phrases, language);
  return { type, data: { transcription: { ...ids, ...times.describe(phrases, span), language, text } } };
}
