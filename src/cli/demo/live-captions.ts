import { displayWidth, neutralise, padTo, truncate, wrapWithin } from './display-text.ts';
import type { Row, Signs, Span, Style } from './live-colors.ts';
import type { Exchange } from './model.ts';

/** Maximum number of exchanges: more cannot be read at a glance. */
const MOST_EXCHANGES = 4;
/** Maximum length of a language tag (columns): `zh-Hant` fits. */
const LONGEST_TAG = 7;
/** Maximum length of a text that is measured (characters): more never fits the picture. */
const LONGEST_TEXT = 600;
const ROWS_PER_TEXT = 2;

export interface CaptionPlace {
  readonly width: number;
  readonly height: number;
  readonly signs: Signs;
}

interface Saying {
  readonly mark: string;
  readonly tag: string;
  readonly text: string;
  readonly isFinal: boolean;
  readonly style: Style | null;
}

/**
 * Renders the last exchanges, oldest first, in exactly `height` rows. Exchanges that do not fit completely are left out.
 * The newest one is always shown, truncated if necessary.
 */
export function renderCaptions(exchanges: readonly Exchange[], place: CaptionPlace): Row[] {
  const latest = exchanges.slice(-MOST_EXCHANGES);
  const tagWidth = tagWidthOf(exchanges);
  const targets = Math.max(1, ...exchanges.map(({ translations }) => translations.length));
  const rows: Row[] = [];
  for (const exchange of latest.toReversed()) {
    let block = renderExchange(exchange, place, { tagWidth, targets, rowsPerText: ROWS_PER_TEXT });
    if (rows.length === 0 && block.length > place.height) {
      block = renderExchange(exchange, place, { tagWidth, targets, rowsPerText: 1 });
    }
    if (rows.length > 0 && rows.length + block.length > place.height) break;
    rows.unshift(...block);
  }
  const blanks = Array.from({ length: place.height }, (): Row => []);
  return [...rows, ...blanks].slice(0, place.height);
}

function tagWidthOf(exchanges: readonly Exchange[]): number {
  const tags = exchanges.flatMap(({ sourceLanguage, translations }) => [
    sourceLanguage,
    ...translations.map(({ language }) => language),
  ]);
  return Math.min(LONGEST_TAG, Math.max(2, ...tags.map((tag) => displayWidth(neutralise(tag)))));
}

function renderExchange(
  exchange: Exchange,
  { width, signs }: CaptionPlace,
  { tagWidth, targets, rowsPerText }: { tagWidth: number; targets: number; rowsPerText: number },
): Row[] {
  const sayings: Saying[] = [
    {
      mark: ' ',
      tag: exchange.sourceLanguage,
      text: exchange.source,
      isFinal: exchange.isFinal,
      style: null,
    },
    ...exchange.translations.map(
      ({ language, text, isFinal }): Saying => ({
        mark: signs.to,
        tag: language,
        text,
        isFinal,
        style: 'cyan',
      }),
    ),
  ];
  const textWidth = width - 2 - tagWidth - 2;
  const rows = sayings.flatMap((saying) => renderSaying(saying, tagWidth, textWidth, rowsPerText, signs));
  // Rows for future translations, so that nothing moves when they arrive.
  for (let missing = targets - exchange.translations.length; missing > 0; missing--) {
    rows.push([{ text: signs.to, style: 'dim' }]);
  }
  return rows;
}

function renderSaying(
  { mark, tag, text, isFinal, style }: Saying,
  tagWidth: number,
  width: number,
  most: number,
  signs: Signs,
): Row[] {
  const harmless = neutralise(isFinal ? text.slice(0, LONGEST_TEXT) : text.slice(-LONGEST_TEXT));
  // A partial text shows its end, which is new.
  const lines = isFinal
    ? wrapWithin(harmless, width, most, { keep: 'start', mark: signs.more })
    : wrapWithin(`${harmless}${signs.more}`, width, most, { keep: 'end', mark: signs.more });
  const words: Style | null = isFinal ? style : 'dim';
  const shortTag = padTo(truncate(neutralise(tag), tagWidth, ''), tagWidth);
  return (lines.length === 0 ? [''] : lines).map((line, index): Row => {
    const lead = index === 0 ? `${mark} ${shortTag}  ` : ' '.repeat(2 + tagWidth + 2);
    const spoken: Span = words === null ? { text: line } : { text: line, style: words };
    return [{ text: lead, style: 'dim' }, spoken];
  });
}
