import { type Piece, type Span, splitAt } from './piece.ts';
import type { ReplayLog, Sentence, Spoken } from './record.ts';
import { isSaidPart } from './sentence.ts';

/** Maximum difference of two edges that mean the same moment (ms): services cut between words. */
const SAME_MS = 400;

/** Rule 8: cuts the pieces at the known times of translated parts; a spoken part settles the pieces that it covers. */
export function settleParts(log: ReplayLog): ReplayLog {
  const settled = log.sentences.flatMap((sentence) =>
    sentence.languages.flatMap((spoken) => {
      const { id } = sentence;
      const { language } = spoken;
      return language === null ? [] : [{ id, language, spans: spokenSpans(sentence, spoken, log) }];
    }),
  );
  const pieces = settled.reduce<readonly Piece[]>(
    (all, { id, language, spans }) =>
      spans.length === 0
        ? all
        : all.flatMap((piece) => (piece.claims.includes(id) ? settlePiece(piece, language, spans) : [piece])),
    log.pieces,
  );
  return pieces === log.pieces ? log : { ...log, pieces };
}

/** Spans that the spoken parts cover; the first and the last part reach to the edges of the sentence. */
function spokenSpans({ span: whole }: Sentence, spoken: Spoken, log: ReplayLog): readonly Span[] {
  if (whole === null) return [];
  return spoken.parts.flatMap((part) => {
    if (part.span === null || !isSaidPart(part, spoken, log)) return [];
    const { fromMs, toMs } = part.span;
    return {
      fromMs: fromMs <= whole.fromMs + SAME_MS ? Number.NEGATIVE_INFINITY : fromMs,
      toMs: toMs >= whole.toMs - SAME_MS ? Number.POSITIVE_INFINITY : toMs,
    };
  });
}

function settlePiece(piece: Piece, language: string, spans: readonly Span[]): readonly Piece[] {
  const isIn = (one: Piece): boolean =>
    spans.some(({ fromMs, toMs }) => one.fromMs >= fromMs && one.toMs <= toMs);
  return spans
    .flatMap(({ fromMs, toMs }) => [fromMs, toMs])
    .reduce<readonly Piece[]>((all, ms) => all.flatMap((one) => splitAt(one, ms)), [piece])
    .map((one) => (isIn(one) ? { ...one, spoken: [...one.spoken, language] } : one));
}
