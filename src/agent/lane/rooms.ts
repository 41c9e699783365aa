import type { Clock } from '../../ports/clock.ts';
import type { Config } from '../../protocol/config.ts';
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
