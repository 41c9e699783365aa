import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/adapters/clock.ts';
import { createWebSocketStreams } from '../../../src/adapters/stream/websocket-stream.ts';
import { connected, listen } from './peer.ts';

/** A frame as a server sends it, with any content. */
function frame(head: number, payload: Buffer): Buffer {
  return Buffer.concat([Buffer.from([head, payload.length]), payload]);
}

/** Sends raw bytes from the service's side. */
async function after(bytes: Buffer) {
  const line = await connected();
  const codes: number[] = [];
  line.service.on('close', (code) => codes.push(code));
  (line.service as unknown as { _socket: Socket })._socket.write(bytes);
  const [, fault, message] = await line.until('broke');
  line.connection.terminate();
  return { fault, message, said: line.said.map(([word]) => word) };
}

const LENGTH_OF_9_MB = Buffer.alloc(8);
LENGTH_OF_9_MB.writeBigUInt64BE(BigInt(9 * 1024 * 1024));

describe('a stream that this side closes because of an invalid frame', () => {
  it.each([
    ['too large a message', Buffer.concat([Buffer.from([0x81, 127]), LENGTH_OF_9_MB]), /too large \(1009\)/],
    ['text that is not UTF-8', frame(0x81, Buffer.from([0xff, 0xfe])), /not UTF-8 \(1007\)/],
    [
      'an unknown kind of frame',
      frame(0x83, Buffer.from('x')),
      /does not allow \(1002, WS_ERR_INVALID_OPCODE\)/,
    ],
  ])('reports what was wrong: %s', async (_what, bytes, words) => {
    const { fault, message, said } = await after(bytes);
    expect(fault).toBe('service');
    expect(message).toMatch(/^the agent closed the stream: the service sent /);
    expect(message).toMatch(words);
    expect(said).not.toContain('ended');
  });
});

describe('an address for which the library throws', () => {
  it.each(['wss://service.example/SECRET#x', 'SECRET', 'http+unix://SECRET'])(
    'causes an event without its text: %s',
    (address) => {
      const { said, listener } = listen();
      const open = createWebSocketStreams({ clock: createSystemClock() });
      const connection = open({ address, token: 'SECRET' }, listener);
      const message = expect.stringMatching(
        /^cannot open a WebSocket for this address \((Syntax|Type)Error\)$/,
      );
      expect(said).toEqual([['broke', 'agent', message]]);
      connection.sendAudio(new Uint8Array(2));
      connection.close();
      expect(connection.bufferedBytes).toBe(0);
    },
  );
});
