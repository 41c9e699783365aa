import type { Clock } from '../../../ports/clock.ts';
import type { Config } from '../../../protocol/config.ts';
import { createRoomSeats, type RoomSeat } from './room-seat.ts';

export type { RoomSeat } from './room-seat.ts';

/** The places of the lanes that share a room, by lane. */
export function createRooms(rooms: Config['rooms'], clock: Clock): ReadonlyMap<string, RoomSeat> {
  return new Map(
    rooms.flatMap(({ lanes }) => {
      const seats = createRoomSeats(clock);
      return lanes.flatMap((lane, index) => {
        const seat = seats[index];
        return seat === undefined ? [] : [[lane, seat] as const];
      });
    }),
  );
}

/** The lanes of each desk: lanes of a room share a desk, and every other lane has its own. */
export function desksOf<L extends { readonly id: string }>(
  lanes: readonly L[],
  rooms: Config['rooms'],
): readonly (readonly L[])[] {
  const shared = rooms
    .map(({ lanes: ids }) => lanes.filter(({ id }) => ids.includes(id)))
    // During a reload, the lanes of a room may end before the room does.
    .filter(({ length }) => length > 0);
  const alone = lanes.filter((lane) => !shared.some((room) => room.includes(lane)));
  return [...shared, ...alone.map((lane) => [lane])];
}
