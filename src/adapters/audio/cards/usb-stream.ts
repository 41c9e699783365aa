import { type Ability, type Direction, type Span, UNKNOWN_ABILITY } from './card.ts';

/** Parses `/proc/asound/cardN/stream0` of a USB card: all its settings, busy or not. */
export function parseUsbStream(text: string): Readonly<Record<Direction, Ability>> {
  const [, playback = ''] = text.split(/^Playback:$/m);
  const [, capture = ''] = text.split(/^Capture:$/m);
  return {
    playback: abilityIn(playback.split(/^Capture:$/m)[0] ?? ''),
    capture: abilityIn(capture.split(/^Playback:$/m)[0] ?? ''),
  };
}

function abilityIn(section: string): Ability {
  const formats = new Set<string>();
  const channels: Span[] = [];
  const rates: Span[] = [];
  for (const [, key = '', value = ''] of section.matchAll(/^ {4}(Format|Channels|Rates): (.+)$/gm)) {
    if (key === 'Format') for (const format of value.split(/[ ,]+/)) formats.add(format);
    else if (key === 'Channels') channels.push(...readSpans(value));
    else rates.push(...readSpans(value));
  }
  if (formats.size === 0) return UNKNOWN_ABILITY;
  return { formats: [...formats], channels: joinSpans(channels), rates: joinSpans(rates) };
}

/** "44100, 48000" or "8000 - 48000 (continuous)". */
function readSpans(text: string): Span[] {
  return text.split(',').flatMap((piece) => {
    const [least, most] = [...piece.matchAll(/\d+/g)].map(([digits]) => Number(digits));
    return least === undefined ? [] : [{ least, most: most ?? least }];
  });
}

/** Sorts the spans and drops those that another one covers. */
export function joinSpans(spans: readonly Span[]): Span[] {
  const joined: Span[] = [];
  const inOrder = [...spans].sort((one, other) => one.least - other.least || other.most - one.most);
  for (const span of inOrder) {
    const last = joined.at(-1);
    if (last === undefined || span.most > last.most) joined.push(span);
  }
  return joined;
}
