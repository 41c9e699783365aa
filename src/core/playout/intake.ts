import { CAPACITY_MS } from './capacity.ts';
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
import type { DropReason, Playout, PlayoutFormat } from './state.ts';

/** A sentence that has ever been so far ahead of its sounding comes in bursts, not at the pace of speech. */
const BURST_MS = 250;
/** Sound without a name that comes this long after the last begins another sentence. */
const NAMELESS_GAP_MS = 1000;
const MOST_UNWANTED = 64;
/** Far more sentences than fit in the time that speech may lag: what they cost at every message must not grow with their number. */
const MOST_WAITING = 64;
/** Behind this many pieces of a sentence, short ones become one of up to this length: likewise. */
const MOST_PIECES = 8;
const JOINED_MS = 200;
/** No more streams than this speak within moments of each other, each in no more languages than there are targets. */
const MOST_NAMELESS = 32;

/** Sound as it arrives. `key` names the sentence within its stream, '' where the service does not; `pcm` may be empty. */
export interface Arrival {
  readonly stream: number;
  readonly key: string;
  readonly language?: string | null;
  readonly pcm: Uint8Array;
  readonly receivedAt: number;
  readonly complete: boolean;
}

/**
 * Gives sound without a name one, so that sentences can be told apart all the same. Two streams may speak at a time, while
 * one session takes over from another, and each in several languages: each of these has its own count.
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

/** Takes in sound as it arrives. Sounds of one stream with one key belong together. */
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
  const known = playout.utterances.findIndex(isIt);
  if (known < 0 && piece === null) return playout;
  const utterances =
    known < 0
      ? insert(playout.utterances, newUtterance(stream, key, arrival.language))
      : [...playout.utterances];
  const index = known < 0 ? utterances.findIndex(isIt) : known;
  const grown = utterances.map((one, place) =>
    place === index ? grow(playout, one, piece, complete, format) : one,
  );
  const queuedBytes = playout.queuedBytes + pcm.byteLength;
  return shedLag({ ...playout, utterances: grown, queuedBytes }, format);
}

/**
 * Throws sound away as it arrives: nobody wants the lane to speak any more.
 * @returns `isNew`: nothing of its sentence was given up before
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

/** More has come of a sentence that was given up. */
function dropLate(playout: Playout, why: DropReason, bytes: number): Playout {
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

/** Gives up whole sentences, the oldest that have not begun first, until what waits is within its limits. */
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

/** Notes sentences of which the rest must not be heard when it comes. */
export function dropRest(
  unwanted: Playout['unwanted'],
  utterances: readonly Utterance[],
  why: DropReason,
): Playout['unwanted'] {
  const more = utterances
    .filter(({ complete }) => !complete)
    .map(({ stream, key }) => ({ stream, key, why }));
  return [...unwanted, ...more].slice(-MOST_UNWANTED);
}

/** Takes in a sound of the lane's own: heard when the sentence that sounds is over. One that waits is replaced. */
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
