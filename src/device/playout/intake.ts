import { judgeNoise } from '../../sound/noise-judge.ts';
import { BYTES_PER_SAMPLE } from '../../sound/pcm.ts';
import { CAPACITY_MS } from '../../sound/playback-buffer/limits.ts';
import { cutKept, dropSpoken, keepSpoken } from './last-spoken.ts';
import type { Playout, PlayoutFormat, UnwantedReason } from './playout-state.ts';
import {
  bytesOf,
  chooseVictim,
  insert,
  newUtterance,
  OWN_STREAM,
  type Piece,
  type Utterance,
  withPiece,
} from './sentences.ts';

/** Lead over playback (ms) that shows that a sentence arrives in bursts, not at the pace of speech. */
const BURST_MS = 250;
/** Pause (ms) after which sound without a name begins a new sentence. */
const NAMELESS_GAP_MS = 1000;
const MOST_UNWANTED = 64;
/** Maximum number of waiting sentences, far more than the permitted lag holds: it limits the work per message. */
const MOST_WAITING = 64;
/** Number of pieces of a sentence after which short pieces are joined, up to `JOINED_MS`: this also limits the work per message. */
const MOST_PIECES = 8;
const JOINED_MS = 200;
/** Maximum number of counters for sound without names: streams that speak at about the same time, times target languages. */
const MOST_NAMELESS = 32;

/** Received sound. `key` names the sentence within its stream, '' if the service sends no name; `pcm` may be empty. */
export interface Arrival {
  readonly stream: number;
  readonly key: string;
  readonly language?: string | null;
  readonly pcm: Uint8Array;
  readonly receivedAt: number;
  readonly complete: boolean;
}

/**
 * Gives a name to sound without one, to keep sentences apart. Two streams may speak at the same time while one session takes
 * over from another: each stream has its own count per language.
 */
function nameOf(playout: Playout, arrival: Arrival): [Playout, string] {
  const { stream, key, language: tag, pcm, receivedAt, complete } = arrival;
  if (key !== '') return [playout, key];
  const language = tag ?? '';
  const last = playout.nameless.find((one) => one.stream === stream && one.language === language);
  const others = playout.nameless.filter((one) => one !== last);
  const goesOn = last !== undefined && receivedAt - last.at < NAMELESS_GAP_MS;
  const number = goesOn ? last.number : (last?.number ?? 0) + 1;
  const name = `#${number}${language}`;
  if (!complete && pcm.byteLength === 0) return [playout, name];
  const now = { stream, language, number: complete ? number + 1 : number, at: receivedAt };
  return [{ ...playout, nameless: [...others, now].slice(-MOST_NAMELESS) }, name];
}

/** Queues received sound. Sounds of one stream with the same key belong to one sentence. */
export function enqueue(given: Playout, arrival: Arrival, format: PlayoutFormat): Playout {
  const { stream, pcm, receivedAt, complete } = arrival;
  const [playout, key] = nameOf(given, arrival);
  const isIt = (one: { stream: number; key: string }): boolean => one.stream === stream && one.key === key;
  const dropped = playout.unwanted.find(isIt);
  if (dropped !== undefined) {
    const unwanted = complete ? playout.unwanted.filter((one) => !isIt(one)) : playout.unwanted;
    return { ...dropLate(playout, dropped.why, pcm.byteLength), unwanted };
  }
  const piece: Piece | null = pcm.byteLength === 0 ? null : { pcm, receivedAt };
  const known = playout.utterances.find(isIt);
  if (known === undefined && piece === null) return playout;
  const rateHz = (format.bytesPerMs * 1000) / BYTES_PER_SAMPLE;
  const { isNoise, endsInNoise } = judgeNoise(pcm, rateHz, known?.endsInNoise ?? false);
  const utterance = known ?? newUtterance(stream, key, arrival.language);
  if (isNoise) return mute(playout, { ...utterance, complete }, pcm.byteLength);
  const free = piece === null ? playout : cutKept(playout);
  const utterances = known === undefined ? insert(free.utterances, utterance) : free.utterances;
  const grown = utterances.map((one) =>
    one === utterance ? { ...grow(free, one, piece, complete, format), endsInNoise } : one,
  );
  const queuedBytes = free.queuedBytes + pcm.byteLength;
  const lastSpoken = piece === null ? free.lastSpoken : keepSpoken(free.lastSpoken, utterance, piece, format);
  return shedLag({ ...free, utterances: grown, queuedBytes, lastSpoken }, format);
}

/**
 * Drops received sound, because the lane must stop speaking.
 * @returns `isNew`: true for the first dropped sound of its sentence
 */
export function dropNew(given: Playout, arrival: Arrival): { playout: Playout; isNew: boolean } {
  const { stream, pcm, complete } = arrival;
  const [playout, key] = nameOf(given, arrival);
  const isIt = (one: { stream: number; key: string }): boolean => one.stream === stream && one.key === key;
  const isKnown = playout.unwanted.some(isIt);
  const others = playout.unwanted.filter((one) => !isIt(one));
  const unwanted = complete ? others : dropRest(others, [newUtterance(stream, key)], 'stop');
  const droppedBytes = playout.droppedBytes + pcm.byteLength;
  return { playout: { ...playout, unwanted, droppedBytes }, isNew: !isKnown && pcm.byteLength > 0 };
}

/** Drops a sentence that is noise, with its queued sound. @param bytes the sound that has just arrived */
function mute(playout: Playout, utterance: Utterance, bytes: number): Playout {
  const { stream, key } = utterance;
  const waiting = bytesOf(utterance);
  return {
    ...dropLate(playout, 'noise', waiting + bytes),
    utterances: playout.utterances.filter((one) => one.stream !== stream || one.key !== key),
    unwanted: dropRest(playout.unwanted, [utterance], 'noise'),
    queuedBytes: playout.queuedBytes - waiting,
    lastSpoken: dropSpoken(playout.lastSpoken, utterance),
  };
}

/** Counts more sound of a dropped sentence. */
function dropLate(playout: Playout, why: UnwantedReason, bytes: number): Playout {
  const { late, shed, droppedBytes } = playout;
  return {
    ...playout,
    droppedBytes: droppedBytes + bytes,
    late: { ...late, [why]: late[why] + bytes },
    shed: why === 'lag' ? { ...shed, bytes: shed.bytes + bytes } : shed,
  };
}

function grow(
  { timeline }: Playout,
  utterance: Utterance,
  piece: Piece | null,
  complete: boolean,
  { bytesPerMs }: PlayoutFormat,
): Utterance {
  const done = utterance.complete || complete;
  if (piece === null) return { ...utterance, complete: done };
  const soundsMs = utterance.begun ? Math.max(0, timeline.end - piece.receivedAt) : 0;
  const aheadMs = soundsMs + bytesOf(utterance) / bytesPerMs;
  const ahead = utterance.ahead || aheadMs >= BURST_MS;
  const pieces = withPiece(utterance.pieces, piece, {
    alone: MOST_PIECES,
    joinedBytes: JOINED_MS * bytesPerMs,
  });
  return { ...utterance, pieces, complete: done, ahead };
}

/** Drops whole sentences until the waiting sound is within its limits; the oldest that have not begun go first. */
function shedLag(given: Playout, { bytesPerMs, lagMs }: PlayoutFormat): Playout {
  const limits = {
    lagBytes: lagMs * bytesPerMs,
    capacityBytes: CAPACITY_MS * bytesPerMs,
    sentences: MOST_WAITING,
  };
  let playout = given;
  while (true) {
    const victim = chooseVictim(playout.utterances, limits);
    if (victim === null) return playout;
    const bytes = bytesOf(victim);
    const { sentences, bytes: before } = playout.shed;
    playout = {
      ...playout,
      utterances: playout.utterances.filter((one) => one !== victim),
      unwanted: dropRest(playout.unwanted, [victim], 'lag'),
      queuedBytes: playout.queuedBytes - bytes,
      droppedBytes: playout.droppedBytes + bytes,
      shed: { sentences: sentences + 1, bytes: before + bytes },
    };
  }
}

/** Marks incomplete sentences, so that their remaining sound is dropped on arrival. */
export function dropRest(
  unwanted: Playout['unwanted'],
  utterances: readonly Utterance[],
  why: UnwantedReason,
): Playout['unwanted'] {
  const more = utterances
    .filter(({ complete }) => !complete)
    .map(({ stream, key }) => ({ stream, key, why }));
  return [...unwanted, ...more].slice(-MOST_UNWANTED);
}

/** Queues a chime of the lane: it plays after the current sentence. A waiting chime with the same key is replaced. */
export function enqueueOwn(playout: Playout, key: string, pcm: Uint8Array, now: number): Playout {
  const outdated = playout.utterances.filter(
    (one) => one.stream === OWN_STREAM && one.key === key && !one.begun,
  );
  const bytes = outdated.reduce((sum, one) => sum + bytesOf(one), 0);
  const utterance = { ...newUtterance(OWN_STREAM, key), pieces: [{ pcm, receivedAt: now }], complete: true };
  const kept = playout.utterances.filter((one) => !outdated.includes(one));
  return {
    ...playout,
    utterances: insert(kept, utterance),
    queuedBytes: playout.queuedBytes + pcm.byteLength - bytes,
  };
}
