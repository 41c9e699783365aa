/** The device's connections to the service: finds the room of each, and informs the oracles. */

import type { LaneState } from '../../src/device/lane/state/lane-state.ts';
import { isText } from '../../src/device/lane/state/silence-watch.ts';
import type { OpenStream } from '../../src/ports/stream.ts';
import type { Network } from './network.ts';
import type { Room } from './room.ts';
import type { ServiceHost } from './service-host.ts';
import type { SimClock } from './sim-clock.ts';
import type { SpeechOracle } from './speech-ports.ts';
import type { Tallies } from './tallies.ts';
import type { TokenOracle } from './token-oracle.ts';
import { createWire, type WireWatch } from './wire.ts';

/** Streams whose room is kept: more than are open at a time. */
const STREAMS_KEPT = 100;
/** Connection numbers of one life of the device: they are unique over all lives. */
const PER_LIFE = 100_000;

export interface Connections {
  /** The oracle of the room that the stream belongs to. */
  hearing(stream: string): SpeechOracle;
  /** Opens the wire for the next life of the device. */
  openWire(isAlive: () => boolean, enlist: (cut: () => void) => void): OpenStream;
}

export interface ConnectionsSetup {
  readonly clock: SimClock;
  readonly network: Network;
  readonly host: ServiceHost;
  readonly rooms: ReadonlyMap<string, Room>;
  readonly main: Room;
  readonly tallies: Tallies;
  readonly tokens: TokenOracle;
  laneOf(id: string): LaneState | null;
}

export function createConnections(setup: ConnectionsSetup): Connections {
  const { clock, network, host, rooms, main, tallies, tokens } = setup;
  const roomOfConnection = new Map<number, Room>();
  const roomOfStream = new Map<string, Room>();
  let base = 0;
  let twoSince = 0;
  const roomOn = (connection: number): Room => roomOfConnection.get(connection) ?? main;
  /** The service knows the client reference of each token, which names the lane. */
  const roomOfToken = (token: string | null): Room => {
    if (rooms.size === 1 || token === null) return main;
    const reference = host.references.get(token) ?? '';
    return rooms.get(reference.split('/').at(-1) ?? '') ?? main;
  };
  const noteOver = (): void => {
    const overlapMs = clock.now() - twoSince;
    tallies.overlapMs += overlapMs;
    tallies.overlaps += 1;
    tallies.longestOverlapMs = Math.max(tallies.longestOverlapMs, overlapMs);
  };
  const watchFor = (isAlive: () => boolean): WireWatch => ({
    opening(given, token) {
      const connection = given + base;
      const room = roomOfToken(token);
      const { connections, lane } = room;
      if (room !== main) roomOfConnection.set(connection, room);
      connections.set(connection, token);
      tallies.connections++;
      if (room === main && connections.size === 2) twoSince = clock.now();
      tokens.opening(token, clock.now());
      // During the step the lane still has its old state: check after the step.
      clock.at(clock.now(), () => {
        const state = setup.laneOf(room.id);
        if (state !== null && isAlive()) lane.opening(connections.size, state, clock.now());
      });
    },
    unspent: (token) => tokens.unspent(token),
    opened: () => {},
    accepted(given, stream) {
      const room = roomOn(given + base);
      roomOfStream.set(stream, room);
      if (roomOfStream.size > STREAMS_KEPT) roomOfStream.delete(roomOfStream.keys().next().value ?? '');
      room.speech.accepted(given + base, stream);
    },
    sent(given, kind, pcm) {
      const room = roomOn(given + base);
      room.lane.sent(given + base, kind, clock.now());
      if (pcm !== null) room.speech.sent(given + base, pcm, clock.now());
    },
    delivered(given, said) {
      const room = roomOn(given + base);
      room.speech.sign(given + base, clock.now());
      if (isText(said) || said.type === 'spoke') room.speech.reacted(given + base, clock.now());
      if (said.type === 'spoke') room.speech.delivered(said.pcm, said.last, clock.now());
      if (said.type === 'limit' && said.reason === 'revoked')
        tokens.revoked(room.connections.get(given + base) ?? null);
    },
    pong: (given) => roomOn(given + base).speech.sign(given + base, clock.now()),
    over(given) {
      const connection = given + base;
      const room = roomOn(connection);
      roomOfConnection.delete(connection);
      if (!room.connections.delete(connection)) return;
      room.speech.connectionOver(connection, clock.now());
      if (room === main && room.connections.size === 1) noteOver();
    },
  });
  return {
    hearing: (stream) => (roomOfStream.get(stream) ?? main).speech,
    openWire(isAlive, enlist) {
      base += PER_LIFE;
      const watch = watchFor(isAlive);
      return createWire({ clock, network, service: host, isAlive, enlist, watch });
    },
  };
}
