/**
 * Who has the floor in a room with two microphones that both hear both people: the person whose microphone hears more speech
 * over its own noise; if both hear about the same, the person whose microphone heard it first. The floor is decided from the
 * first 160 ms of a sentence and stays until the sentence ends, even if both speak at once.
 */

/** One of the two microphones. */
export type Side = 0 | 1;

/** How much the two microphones hear over their own noise in one slot (dB). */
export type Heard = readonly [number, number];

/** A stretch of time (slots) in which one side has the floor. */
interface Turn {
  readonly side: Side;
  readonly from: number;
  /** Infinite while the turn lasts. */
  readonly until: number;
}

/** A person has begun to speak: the next slots decide who. */
interface Contest {
  readonly from: number;
  readonly sums: Heard;
  /** The first slot in which each microphone heard a voice; infinite: none yet. */
  readonly onsets: Heard;
  readonly voiced: number;
}

export interface Floor {
  readonly holder: Side | null;
  /** When the holder was last heard. */
  readonly lastOwnAt: number;
  readonly contest: Contest | null;
  /** When the other side last spoke over the holder; its sentence does not get the floor during a short breath of the holder. */
  readonly overlapAt: number;
  /** The last turns, oldest first. */
  readonly turns: readonly Turn[];
}

/** Length of a slot (ms). */
export const SLOT_MS = 20;
/** Minimum level of a voice above the noise (dB). */
const VOICE_DB = 9;
/** The other microphone may hear a voice this much better (dB) before it counts as the other person's. */
const OWN_DB = 3;
/** Difference (dB) below which the earlier onset decides. */
const EQUAL_DB = 2;
const CONTEST_SLOTS = 8;
/** Minimum number of slots with a voice in a contest: fewer are a click. */
const LEAST_VOICED = 4;
/** Silence that ends a sentence (0.7 s), as in the service. */
const SENTENCE_OVER_SLOTS = 35;
/** Silence of the holder (0.4 s) after which the other side, which spoke over the holder, gets the floor. */
const BREATH_SLOTS = 20;
/** A turn begins this much before its first voice (60 ms), to include the soft beginning of a word. */
const SOFT_SLOTS = 3;
/** Pause (0.3 s) after which speech is a new sentence of the other side. */
const NEW_SENTENCE_SLOTS = 15;
const TURNS_KEPT = 16;

const NEVER = Number.NEGATIVE_INFINITY;
export const FREE_FLOOR: Floor = {
  holder: null,
  lastOwnAt: NEVER,
  contest: null,
  overlapAt: NEVER,
  turns: [],
};

const otherOf = (side: Side): Side => (side === 0 ? 1 : 0);

/** Whether the voice at a microphone is that of its own person. */
function isOwn(heard: Heard, side: Side): boolean {
  return heard[side] >= VOICE_DB && heard[side] >= heard[otherOf(side)] - OWN_DB;
}

/** Updates the floor by what both microphones heard in the next slot. */
export function hearSlot(floor: Floor, slot: number, heard: Heard): Floor {
  const { holder } = floor;
  if (holder === null) return contend(floor, slot, heard);
  const other = otherOf(holder);
  const [isHolder, isOther] = [isOwn(heard, holder), isOwn(heard, other)];
  if (isHolder) {
    // The pause was a breath within the holder's sentence.
    const overlaps = isOther || floor.contest !== null;
    return { ...floor, lastOwnAt: slot, contest: null, overlapAt: overlaps ? slot : floor.overlapAt };
  }
  const quiet = slot - floor.lastOwnAt;
  if (isOther || floor.contest !== null) {
    const overlaps = slot - floor.overlapAt < NEW_SENTENCE_SLOTS;
    if (overlaps && quiet < BREATH_SLOTS)
      return isOther ? { ...floor, contest: null, overlapAt: slot } : { ...floor, contest: null };
    return contend(floor, slot, heard);
  }
  return quiet < SENTENCE_OVER_SLOTS ? floor : { ...endTurn(floor, slot), holder: null };
}

function contend(floor: Floor, slot: number, heard: Heard): Floor {
  const isVoiced = Math.max(...heard) >= VOICE_DB;
  if (floor.contest === null && !isVoiced) return floor;
  const none = Number.POSITIVE_INFINITY;
  const { from, sums, onsets, voiced }: Contest = floor.contest ?? {
    from: slot,
    sums: [0, 0],
    onsets: [none, none],
    voiced: 0,
  };
  const onset = (side: Side): number =>
    heard[side] >= VOICE_DB ? Math.min(onsets[side], slot) : onsets[side];
  const contest: Contest = {
    from,
    sums: [sums[0] + Math.max(0, heard[0]), sums[1] + Math.max(0, heard[1])],
    onsets: [onset(0), onset(1)],
    voiced: voiced + (isVoiced ? 1 : 0),
  };
  if (slot - from + 1 < CONTEST_SLOTS) return { ...floor, contest };
  if (contest.voiced < LEAST_VOICED) return { ...floor, contest: null };
  return beginTurn(floor, slot, contest, heard);
}

function beginTurn(floor: Floor, slot: number, contest: Contest, heard: Heard): Floor {
  const side = winnerOf(contest, floor.holder);
  const overlapAt = isOwn(heard, otherOf(side)) ? slot : NEVER;
  const next = { ...floor, contest: null, lastOwnAt: slot, overlapAt };
  if (side === floor.holder) return next;
  const from = contest.from - SOFT_SLOTS;
  const { turns } = endTurn(floor, from);
  const turn = { side, from, until: Number.POSITIVE_INFINITY };
  return { ...next, holder: side, turns: [...turns, turn].slice(-TURNS_KEPT) };
}

function winnerOf({ sums, onsets }: Contest, holder: Side | null): Side {
  const ahead = (sums[0] - sums[1]) / CONTEST_SLOTS;
  if (Math.abs(ahead) >= EQUAL_DB) return ahead > 0 ? 0 : 1;
  if (onsets[0] !== onsets[1]) return onsets[0] < onsets[1] ? 0 : 1;
  return holder ?? 0;
}

function endTurn(floor: Floor, until: number): Floor {
  const turns = floor.turns.map((turn) =>
    turn.until === Number.POSITIVE_INFINITY ? { ...turn, until: Math.max(turn.from, until) } : turn,
  );
  return { ...floor, turns };
}

/** Whether it may still change who has the floor in a slot that was heard. */
export function isOpen({ contest }: Floor, slot: number): boolean {
  return contest !== null && slot >= contest.from - SOFT_SLOTS;
}

/** Whether the other side has the floor in a slot. */
export function isOthers({ turns }: Floor, side: Side, slot: number): boolean {
  return turns.some((turn) => turn.side !== side && slot >= turn.from && slot < turn.until);
}
