/** A broker that answers byte by byte by a script, and a bus that connects to it in virtual time. */
import type { Socket } from 'node:net';
import { afterEach, expect } from 'vitest';
import type { BusOptions } from '../../../src/ports/bus.ts';
import { createVirtualClock, type VirtualClock } from '../../virtual-clock.ts';
import { type ScriptedBroker, startScriptedBroker } from './loopback-servers.ts';
import { createTestBuses, type OpenedBus } from './test-buses.ts';

export const CONNECT = 0x10;
export const PUBLISH = 0x30;
export const PUBACK = 0x40;
export const SUBSCRIBE = 0x80;
export const PINGREQ = 0xc0;
export const CONNACK_5 = [0x20, 3, 0, 0, 0];
/** The broker still has our session. */
export const CONNACK_5_KEPT = [0x20, 3, 1, 0, 0];
export const CONNACK_4 = [0x20, 2, 0, 0];

export const packetType = (bytes: Buffer): number => (bytes[0] ?? 0) & 0xf0;
/** Protocol level of a CONNECT: after the length-prefixed name "MQTT". */
export const levelOf = (connect: Buffer): number => connect[8] ?? 0;
/** The packets that a client wrote, one by one. */
export function* packets(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; ) {
    let length = 0;
    let head = 1;
    for (let shift = 0; ; shift += 7, head += 1) {
      const byte = bytes[at + head] ?? 0;
      length += (byte & 0x7f) << shift;
      if ((byte & 0x80) === 0) break;
    }
    const end = at + head + 1 + length;
    yield bytes.subarray(at, end);
    at = end;
  }
}
/** The rest of a packet after its length. */
export function bodyOf(packet: Buffer): Buffer {
  let at = 1;
  while (((packet[at] ?? 0) & 0x80) !== 0) at += 1;
  return packet.subarray(at + 1);
}

/** Filters of a SUBSCRIBE. */
export function countFilters(body: Buffer): number {
  let count = 0;
  for (let at = 3 + (body[2] ?? 0); at < body.length; at += 3 + body.readUInt16BE(at)) count += 1;
  return count;
}

/** Parses a QoS 1 PUBLISH shorter than 128 bytes. */
export function readPublish(packet: Buffer): { topic: string; id: [number, number] } {
  const length = packet.readUInt16BE(2);
  return {
    topic: packet.subarray(4, 4 + length).toString(),
    id: [packet[4 + length] ?? 0, packet[5 + length] ?? 0],
  };
}
export const send = (socket: Socket, ...bytes: number[]): void => void socket.write(Buffer.from(bytes));
export const suback5 = (subscribe: Buffer, ...granted: number[]): number[] => {
  const [high = 0, low = 0] = subscribe.subarray(2, 4);
  return [0x90, 3 + granted.length, high, low, 0, ...granted];
};

/** Call this within `describe`: everything is closed after each test. */
export function useScriptedBroker() {
  let clock: VirtualClock;
  let buses: ReturnType<typeof createTestBuses>;
  let scripted: ScriptedBroker;
  const seen: { level: number }[] = [];

  const play = async (
    answer: (bytes: Buffer, socket: Socket, connection: number) => void,
    subscriptions: BusOptions['subscriptions'] = [],
    options: Partial<BusOptions> = {},
  ): Promise<OpenedBus> => {
    seen.length = 0;
    clock = createVirtualClock();
    buses = createTestBuses(clock);
    scripted = await startScriptedBroker((bytes, socket, connection) => {
      if (packetType(bytes) === CONNECT) seen.push({ level: levelOf(bytes) });
      answer(bytes, socket, connection);
    });
    return buses.open({ url: scripted.url }, { subscriptions, ...options });
  };
  /**
   * Advances virtual time until `check` holds, a second at a time. In between the event loop turns often enough for both ends of a
   * connection, which share this process, so the result does not depend on the machine's speed.
   * @returns the seconds that passed
   */
  const passUntil = async (check: () => boolean, what: string, stepMs = 1000): Promise<number> => {
    for (let passedMs = 0; passedMs < 3_000_000; passedMs += stepMs) {
      if (check()) return passedMs / 1000;
      clock.advance(stepMs);
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    throw new Error(`did not happen: ${what}`);
  };

  afterEach(async () => {
    await scripted.close();
    const closed = buses.closeAll();
    await clock.elapse(5000);
    await closed;
    expect(clock.armed).toBe(0);
  });
  return {
    play,
    passUntil,
    /** Protocol level of each CONNECT. */
    seen,
    clock: () => clock,
    buses: () => buses,
    scripted: () => scripted,
  };
}
