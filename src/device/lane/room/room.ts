import { BYTES_PER_SAMPLE, samplesOf } from '../../../sound/pcm.ts';
import { type Ear, FRESH_EAR, hearLevel } from './ear.ts';
import { type Floor, FREE_FLOOR, hearSlot, isOpen, isOthers, type Side, SLOT_MS } from './floor.ts';

/** The two microphones of a room: aligns their sound in slots of time, and finds out which of the sound is the other person's. */
export interface Room {
  readonly ears: readonly [Ear, Ear];
  /** Samples of an incomplete slot, and the number of the next slot. */
  readonly rests: readonly [Rest, Rest];
  /** Slots that wait for the other microphone, by number: the level at each microphone; null: not heard yet. */
  readonly waiting: ReadonlyMap<number, readonly [number | null, number | null]>;
  /** The last slot in which both microphones were heard, or that was too late to wait for. */
  readonly settled: number;
  readonly floor: Floor;
}

interface Rest {
  readonly pcm: Uint8Array;
  /** The next slot of this microphone; null: it was not heard yet. */
  readonly next: number | null;
}

/** How long a slot waits for the other microphone (ms): its device may deliver in long pieces, or nothing at all. */
export const LATE_MS = 200;
/** Difference (slots) between a microphone's slots and the clock above which the slots are renumbered by the clock: the device paused. */
const ASTRAY_SLOTS = 5;

const NO_REST: Rest = { pcm: new Uint8Array(0), next: null };

export const EMPTY_ROOM: Room = {
  ears: [FRESH_EAR, FRESH_EAR],
  rests: [NO_REST, NO_REST],
  waiting: new Map(),
  settled: Number.NEGATIVE_INFINITY,
  floor: FREE_FLOOR,
};

const slotOf = (ms: number): number => Math.floor(ms / SLOT_MS);

/** Takes the next sound of one microphone. @param capturedAt when its last sample was captured */
export function hear(room: Room, side: Side, sound: Uint8Array, capturedAt: number, rateHz: number): Room {
  const slotBytes = BYTES_PER_SAMPLE * Math.round((rateHz * SLOT_MS) / 1000);
  const { next, pcm: rest } = room.rests[side];
  const pcm = rest.byteLength === 0 ? sound : joined(rest, sound);
  const count = Math.floor(pcm.byteLength / slotBytes);
  const restMs = ((pcm.byteLength - count * slotBytes) / BYTES_PER_SAMPLE / rateHz) * 1000;
  const byClock = slotOf(capturedAt - restMs) - count;
  // Sample counts are steadier than the times of delivery.
  const first = next === null || Math.abs(byClock - next) > ASTRAY_SLOTS ? byClock : next;
  let ear = room.ears[side];
  const waiting = new Map(room.waiting);
  for (let index = 0; index < count; index++) {
    const slot = first + index;
    const level = hearLevel(ear, samplesOf(pcm.subarray(index * slotBytes, (index + 1) * slotBytes)));
    ear = level.ear;
    if (slot <= room.settled) continue;
    const known = waiting.get(slot) ?? [null, null];
    waiting.set(slot, side === 0 ? [level.overDb, known[1]] : [known[0], level.overDb]);
  }
  const now = { pcm: pcm.slice(count * slotBytes), next: first + count };
  return settle(
    {
      ...room,
      ears: side === 0 ? [ear, room.ears[1]] : [room.ears[0], ear],
      rests: side === 0 ? [now, room.rests[1]] : [room.rests[0], now],
      waiting,
    },
    capturedAt,
  );
}

/** Decides the floor up to the last slot that both microphones have heard, or that is too old to wait for. */
export function settle(room: Room, now: number): Room {
  const due = [...room.waiting.keys()].sort((one, other) => one - other);
  const waiting = new Map(room.waiting);
  let { floor, settled } = room;
  for (const slot of due) {
    const [left, right] = waiting.get(slot) ?? [null, null];
    const isLate = (slot + 1) * SLOT_MS <= now - LATE_MS;
    if ((left === null || right === null) && !isLate) break;
    waiting.delete(slot);
    floor = hearSlot(floor, slot, [left ?? 0, right ?? 0]);
    settled = slot;
  }
  return { ...room, waiting, floor, settled };
}

/** Whether later slots may still change to which side the sound captured up to `until` belongs. */
export function isUndecided({ floor, settled }: Room, until: number): boolean {
  const last = slotOf(until) - 1;
  return last > settled || isOpen(floor, last);
}

/**
 * The sound without the other person's speech.
 * @returns `own`: the bytes that are left; empty: all of it is the other person's
 */
export function withoutOthers(
  { floor }: Room,
  side: Side,
  pcm: Uint8Array,
  began: number,
  rateHz: number,
): { readonly pcm: Uint8Array; readonly own: readonly { readonly from: number; readonly until: number }[] } {
  const bytesAt = (ms: number): number =>
    Math.min(pcm.byteLength, Math.max(0, BYTES_PER_SAMPLE * Math.round(((ms - began) * rateHz) / 1000)));
  const until = began + (pcm.byteLength / BYTES_PER_SAMPLE / rateHz) * 1000;
  const own: { from: number; until: number }[] = [];
  for (let slot = slotOf(began); slot * SLOT_MS < until; slot++) {
    if (isOthers(floor, side, slot)) continue;
    const piece = { from: bytesAt(slot * SLOT_MS), until: bytesAt((slot + 1) * SLOT_MS) };
    const last = own.at(-1);
    if (last !== undefined && last.until === piece.from) last.until = piece.until;
    else if (piece.until > piece.from) own.push(piece);
  }
  const [only] = own;
  if (own.length === 1 && only?.from === 0 && only.until === pcm.byteLength) return { pcm, own };
  const left = new Uint8Array(pcm.byteLength);
  for (const { from, until } of own) left.set(pcm.subarray(from, until), from);
  return { pcm: left, own };
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array {
  const both = new Uint8Array(one.byteLength + other.byteLength);
  both.set(one);
  both.set(other, one.byteLength);
  return both;
}
