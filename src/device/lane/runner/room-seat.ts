import type { Clock } from '../../../ports/clock.ts';
import type { Chunk } from '../../../sound/chunker.ts';
import type { Heard } from '../../playout/heard.ts';
import type { Side } from '../room/floor.ts';
import { EMPTY_ROOM, hear, isUndecided, LATE_MS, type Room, settle, withoutOthers } from '../room/room.ts';
import type { Reference } from './playback-pipeline.ts';

/** A chunk without the other person's speech. */
export interface OwnChunk {
  /** Full length; the other person's speech is replaced by silence. */
  readonly pcm: Uint8Array;
  /** The pieces of the chunk that are not the other person's speech; empty: all of it is. */
  readonly own: readonly Uint8Array[];
}

/** A lane's part in its room. */
export interface Neighbour {
  /** Gets the sound of the other loudspeaker. */
  readonly others: Reference;
  /** The other loudspeaker is heard at these times. */
  heard(heard: readonly Heard[], playedMs: number): void;
}

/** The place of one lane in its room. */
export interface RoomSeat {
  /** The next sound of the microphone. */
  hear(pcm: Uint8Array, capturedAt: number, rateHz: number): void;
  /** Calls back, in order, as soon as it is known whose speech the chunk holds. */
  pass(chunk: Chunk, pass: (own: OwnChunk) => void): void;
  /** Connects the lane to its place. */
  sit(neighbour: Neighbour): void;
  /** The sound of the lane's loudspeaker, for the other microphone. */
  readonly loudspeaker: Reference;
  /** The lane's loudspeaker is heard at these times. */
  sounds(heard: readonly Heard[], playedMs: number): void;
}

/** Longest wait for the decision on who has the floor (ms): allows for a contest, and for a microphone that delivers late. */
const DECIDED_WITHIN_MS = 2 * LATE_MS;

interface Waiting {
  readonly chunk: Chunk;
  readonly rateHz: number;
  readonly until: number;
  readonly pass: (own: OwnChunk) => void;
}

/** The two lanes of a room: the floor goes to one of two microphones, and each microphone hears both loudspeakers. */
export function createRoomSeats(clock: Clock): readonly [RoomSeat, RoomSeat] {
  let room: Room = EMPTY_ROOM;
  const queues: readonly [Waiting[], Waiting[]] = [[], []];
  const rates: [number, number] = [0, 0];
  const neighbours: [Neighbour | null, Neighbour | null] = [null, null];
  let disarm: (() => void) | null = null;

  const look = (): void => {
    for (const side of [0, 1] as const) {
      const queue = queues[side];
      for (let [first] = queue; first !== undefined; [first] = queue) {
        if (isUndecided(room, first.chunk.capturedAt) && clock.now() < first.until) break;
        queue.shift();
        first.pass(ownOf(room, side, first));
      }
    }
    const next = Math.min(...queues.map(([first]) => first?.until ?? Number.POSITIVE_INFINITY));
    disarm?.();
    disarm = next === Number.POSITIVE_INFINITY ? null : clock.at(Math.max(next, clock.now()), late);
  };
  const late = (): void => {
    room = settle(room, clock.now());
    look();
  };

  const seatOf = (side: Side): RoomSeat => {
    const other = side === 0 ? 1 : 0;
    return {
      hear(pcm, capturedAt, rateHz) {
        rates[side] = rateHz;
        room = hear(room, side, pcm, capturedAt, rateHz);
        look();
      },
      pass(chunk, pass) {
        const until = clock.now() + DECIDED_WITHIN_MS;
        queues[side].push({ chunk, rateHz: rates[side], until, pass });
        look();
      },
      sit(neighbour) {
        neighbours[side] = neighbour;
      },
      loudspeaker: {
        played: (...sound) => neighbours[other]?.others.played(...sound),
        flushed: (...sound) => neighbours[other]?.others.flushed(...sound),
      },
      sounds: (heard, playedMs) => neighbours[other]?.heard(heard, playedMs),
    };
  };
  return [seatOf(0), seatOf(1)];
}

function ownOf(room: Room, side: Side, { chunk, rateHz }: Waiting): OwnChunk {
  const sound = chunk.pcm.subarray(0, chunk.soundBytes);
  const lengthMs = (chunk.pcm.byteLength / 2 / rateHz) * 1000;
  const { pcm, own } = withoutOthers(room, side, chunk.pcm, chunk.capturedAt - lengthMs, rateHz);
  const pieces = own
    .map(({ from, until }) => pcm.subarray(from, Math.min(until, sound.byteLength)))
    .filter(({ byteLength }) => byteLength > 0);
  return { pcm, own: pieces };
}

/** The receivers of a loudspeaker's sound: in a room, both microphones hear it. */
export function heardBy(own: Reference, seat: RoomSeat | undefined): Reference {
  if (seat === undefined) return own;
  return {
    played(...sound) {
      own.played(...sound);
      seat.loudspeaker.played(...sound);
    },
    flushed(...sound) {
      own.flushed(...sound);
      seat.loudspeaker.flushed(...sound);
    },
    late: (byMs) => own.late?.(byMs),
  };
}
