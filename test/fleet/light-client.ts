/** A client of MQTT 3.1.1 that costs next to nothing, so that one process can be ten thousand devices. */
import { connect, type Socket } from 'node:net';

export interface LightClientOptions {
  readonly port: number;
  readonly clientId: string;
  readonly subscriptions: readonly string[];
  readonly will: { readonly topic: string; readonly payload: string };
  /** Wait before the next attempt (ms). */
  readonly retryMs: () => number;
  up(): void;
  message(topic: string, payload: string): void;
}

export interface LightClient {
  readonly isUp: boolean;
  publish(topic: string, payload: string, how?: { qos?: 0 | 1; retain?: boolean }): void;
  close(): void;
}

const KEEPALIVE_S = 90;
const PING_EACH_MS = 60_000;

export function openLightClient(options: LightClientOptions): LightClient {
  const { port, subscriptions, message } = options;
  let socket: Socket | null = null;
  let isUp = false;
  let isClosed = false;
  let packetId = 0;
  let timer: NodeJS.Timeout | null = null;
  const send = (packet: Buffer): void => void socket?.write(packet);
  const nextId = (): Buffer => {
    packetId = (packetId % 65_535) + 1;
    return Buffer.from([packetId >> 8, packetId & 255]);
  };

  const receive = (type: number, body: Buffer): void => {
    if (type >> 4 === 2) {
      const filters = subscriptions.flatMap((filter) => [text(filter), Buffer.from([1])]);
      send(packet(0x82, nextId(), ...filters));
    } else if (type >> 4 === 9) {
      isUp = true;
      options.up();
    } else if (type >> 4 === 3) {
      const end = 2 + body.readUInt16BE(0);
      const isAcknowledged = ((type >> 1) & 3) === 1;
      if (isAcknowledged) send(packet(0x40, body.subarray(end, end + 2)));
      message(body.toString('utf8', 2, end), body.toString('utf8', isAcknowledged ? end + 2 : end));
    }
  };

  const open = (): void => {
    const opened = connect(port, '127.0.0.1');
    socket = opened;
    let rest: Buffer = Buffer.alloc(0);
    opened.setNoDelay();
    opened.on('connect', () => {
      const { clientId, will } = options;
      const flags = Buffer.from([4, 0x02 | 0x04 | 0x08 | 0x20, KEEPALIVE_S >> 8, KEEPALIVE_S & 255]);
      send(packet(0x10, text('MQTT'), flags, text(clientId), text(will.topic), text(will.payload)));
      timer = setTimeout(ping, Math.random() * PING_EACH_MS);
    });
    opened.on('data', (data) => {
      rest = rest.length === 0 ? data : Buffer.concat([rest, data]);
      for (let one = readPacket(rest); one !== null; one = readPacket(rest)) {
        rest = rest.subarray(one.end);
        receive(one.type, one.body);
      }
      rest = Buffer.from(rest);
    });
    opened.on('error', () => {});
    opened.on('close', () => {
      isUp = false;
      if (timer !== null) clearTimeout(timer);
      if (!isClosed) timer = setTimeout(open, options.retryMs());
    });
  };
  const ping = (): void => {
    send(packet(0xc0));
    timer = setTimeout(ping, PING_EACH_MS);
  };
  open();

  return {
    get isUp() {
      return isUp;
    },
    publish(topic, payload, { qos = 1, retain = false } = {}) {
      const body = [text(topic), ...(qos === 1 ? [nextId()] : []), Buffer.from(payload)];
      send(packet(0x30 | (qos << 1) | Number(retain), ...body));
    },
    close() {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      socket?.destroy();
    },
  };
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 255]), bytes]);
}

function packet(type: number, ...parts: Buffer[]): Buffer {
  const length: number[] = [];
  let left = parts.reduce((sum, part) => sum + part.length, 0);
  do {
    length.push((left % 128) | (left >= 128 ? 128 : 0));
    left = Math.floor(left / 128);
  } while (left > 0);
  return Buffer.concat([Buffer.from([type, ...length]), ...parts]);
}

/** The first packet, if it is there as a whole. */
function readPacket(data: Buffer): { type: number; body: Buffer; end: number } | null {
  let length = 0;
  for (let index = 1; index < Math.min(5, data.length); index += 1) {
    const byte = data[index] ?? 0;
    length += (byte & 127) * 128 ** (index - 1);
    if (byte >= 128) continue;
    const end = index + 1 + length;
    return end <= data.length ? { type: data[0] ?? 0, body: data.subarray(index + 1, end), end } : null;
  }
  return null;
}
