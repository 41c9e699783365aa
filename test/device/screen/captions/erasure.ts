import {
  type Append,
  lookAtCaptions,
  NO_CAPTIONS,
  takeCaption,
} from '../../../../src/device/screen/captions/captions.ts';
import { commonLength } from '../../../../src/device/screen/captions/continuation.ts';
import { advanceLines, appendText, noLines } from '../../../../src/device/screen/captions/lines.ts';
import { EMPTY_TRACK, lookAtTrack, takeText } from '../../../../src/device/screen/captions/voice-track.ts';
import type { Said } from './drawn.ts';

/** Erasure as Chromium measures it: the old length less the common beginning, summed over all texts. */
export function erasureOf(texts: readonly string[]): number {
  let sum = 0;
  for (const [index, text] of texts.entries()) {
    const before = texts[index - 1] ?? '';
    sum += before.length - commonLength(before, text);
  }
  return sum;
}

/** What a screen shows after each text, and at last after a long pause. */
export function shownAfterEach(
  said: readonly Said[],
  language: string,
): { shown: string[]; diverged: number } {
  let track = EMPTY_TRACK;
  let text = '';
  let diverged = 0;
  const shown = said.map(({ at, ...one }) => {
    const step = takeText(track, one, language, at);
    track = step.track;
    diverged += step.diverged;
    text += step.pieces.map((piece) => piece.text).join('');
    return text;
  });
  const rest = lookAtTrack(track, language, (said.at(-1)?.at ?? 0) + 60_000);
  return { shown: [...shown, text + rest.pieces.map((piece) => piece.text).join('')], diverged };
}

/** The recogniser's latest texts, painted as they come: what a screen without stabilising shows. */
export function latestTexts(said: readonly Said[]): string[] {
  return said.map(({ text }) => text);
}

/**
 * Chromium's greedy stabilizer, written from its description as an oracle: a token is stable when it has been seen
 * `frequency` times at its position and no other token more often; the stable count never shrinks; a final text replaces
 * everything.
 */
export function greedyStabilized(said: readonly Said[], frequency: number): string[] {
  let counts: Map<string, number>[] = [];
  let stable = 0;
  return said.map(({ text, isFinal }) => {
    const tokens = text.split(' ').filter((token) => token !== '');
    if (isFinal) {
      counts = [];
      stable = 0;
      return text;
    }
    for (const [at, token] of tokens.entries()) {
      counts[at] ??= new Map();
      counts[at].set(token, (counts[at].get(token) ?? 0) + 1);
    }
    for (let at = stable; at < tokens.length; at++) {
      const count = counts[at]?.get(tokens[at] ?? '') ?? 0;
      if (count < frequency || [...(counts[at]?.values() ?? [])].some((other) => other > count)) break;
      stable = at + 1;
    }
    return tokens.slice(0, stable).join(' ');
  });
}

/** All lines that the page has painted so far, as one text, after each text of the service. */
export function paintedAfterEach(said: readonly Said[], language: string, width: number): string[] {
  const lane = { lane: 'main', source: language, targets: ['xx'] };
  const options = { masksProfanity: false };
  const seen = new Map<number, string>();
  const painted: string[] = [];
  let captions = NO_CAPTIONS;
  let lines = noLines(language);
  const paint = (appends: readonly Append[], now: number): void => {
    for (const append of appends) lines = appendText(lines, append);
    ({ lines } = advanceLines(lines, { width, rows: 2, gap: 0, measure: (text) => text.length }, now));
    for (const { id, text } of lines.lines) seen.set(id, text);
    painted.push([...seen.values()].join('\n'));
  };
  for (const { at, key, text, isFinal } of said) {
    const caption = { kind: 'source' as const, isFinal, id: key, part: null, language, text };
    const step = takeCaption(captions, caption, lane, options, at);
    captions = step.captions;
    paint(step.appends, at);
  }
  let now = said.at(-1)?.at ?? 0;
  for (let look = 0; look < 20; look++) {
    now += 5000;
    const step = lookAtCaptions(captions, options, now);
    captions = step.captions;
    paint(step.appends, now);
  }
  return painted;
}
