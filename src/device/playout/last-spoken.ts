import { fadeAfter } from '../../sound/fade.ts';
import type { LastSpoken, Playout, PlayoutFormat } from './playout-state.ts';
import {
  bytesOf,
  newUtterance,
  OWN_STREAM,
  PHRASE,
  type Piece,
  PROMPT,
  REPEAT,
  type Utterance,
  withPiece,
} from './sentences.ts';

/** Longest sound that is kept of a sentence (ms). It needs 1 MB. */
const KEPT_MS = 20_000;
/** Maximum number of languages, as many as a lane may have: a service may invent tags. */
const MOST_LANGUAGES = 8;
/** Pieces are joined up to this length (ms), which limits the work per message. */
const JOINED_MS = 200;

/** Keeps received sound. A new sentence replaces the one before it in its language; of a very long one, the newest sound stays. */
export function keepSpoken(
  kept: readonly LastSpoken[],
  { stream, key, language = null }: Pick<Utterance, 'stream' | 'key' | 'language'>,
  piece: Piece,
  { bytesPerMs }: PlayoutFormat,
): readonly LastSpoken[] {
  const known = kept.find((one) => one.language === language);
  const isSame = known?.stream === stream && known.key === key;
  const joinedBytes = JOINED_MS * bytesPerMs;
  let pieces = withPiece(isSame ? known.pieces : [], piece, { alone: 1, joinedBytes });
  while (pieces.length > 1 && bytesOf({ pieces }) > KEPT_MS * bytesPerMs) pieces = pieces.slice(1);
  const others = kept.filter((one) => one !== known);
  return [...others, { stream, key, language, pieces }].slice(-MOST_LANGUAGES);
}

/** Drops a sentence that has turned out to be noise. */
export function dropSpoken(kept: readonly LastSpoken[], noise: Utterance): readonly LastSpoken[] {
  return kept.filter(({ stream, key }) => stream !== noise.stream || key !== noise.key);
}

/** Queues a kept sentence. */
export function enqueueRepeat(playout: Playout, spoken: LastSpoken, now: number): Playout {
  const pieces = spoken.pieces.map(({ pcm }) => ({ pcm, receivedAt: now }));
  return enqueueKept(playout, REPEAT, spoken.language, pieces);
}

/** Queues a phrase of the house, in place of one that still plays. */
export function enqueuePhrase(playout: Playout, language: string, pcm: Uint8Array, now: number): Playout {
  const free = cutYielding(playout);
  const piece = { pcm, receivedAt: now };
  const before = free.utterances.find(({ stream, key }) => stream === OWN_STREAM && key === PHRASE);
  if (before === undefined) return enqueueKept(free, PHRASE, language, [piece]);
  const next = { ...before, language, pieces: [...before.pieces, piece] };
  return {
    ...free,
    utterances: free.utterances.map((one) => (one === before ? next : one)),
    queuedBytes: free.queuedBytes + pcm.byteLength,
  };
}

function enqueueKept(
  playout: Playout,
  key: string,
  language: string | null,
  pieces: readonly Piece[],
): Playout {
  const utterance = { ...newUtterance(OWN_STREAM, key, language), pieces, complete: true };
  return {
    ...playout,
    utterances: [...playout.utterances, utterance],
    queuedBytes: playout.queuedBytes + bytesOf(utterance),
  };
}

/** Names of the device's own sounds for which speech does not wait. */
const YIELDING: readonly string[] = [REPEAT, PROMPT, PHRASE];

/** Ends them, because new speech has arrived: nobody waits for them, and none is dropped because it waited too long. */
export function cutYielding(playout: Playout): Playout {
  const yielding = playout.utterances.filter(
    (one) => one.stream === OWN_STREAM && YIELDING.includes(one.key) && bytesOf(one) > 0,
  );
  return yielding.reduce(cutShort, playout);
}

function cutShort(playout: Playout, sound: Utterance): Playout {
  const fade = sound.edge === null ? null : fadeAfter(sound.edge);
  const receivedAt = sound.pieces[0]?.receivedAt ?? 0;
  const cut: Utterance = { ...sound, pieces: fade === null ? [] : [{ pcm: fade, receivedAt }] };
  return {
    ...playout,
    utterances: playout.utterances.map((one) => (one === sound ? cut : one)),
    queuedBytes: playout.queuedBytes - bytesOf(sound) + bytesOf(cut),
  };
}
