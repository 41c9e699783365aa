import { describe, expect, it } from 'vitest';
import { createFrameReader } from '../../../scripts/bench/frame-reader.ts';

const HEAD = Buffer.from('GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n');

function frame(text: string, { opcode = 1, final = true, masked = false } = {}): Buffer {
  const payload = Buffer.from(text);
  const length =
    payload.length > 65_535
      ? Buffer.from([127, 0, 0, 0, 0, ...[24, 16, 8, 0].map((bits) => (payload.length >> bits) & 255)])
      : payload.length > 125
        ? Buffer.from([126, payload.length >> 8, payload.length & 255])
        : Buffer.from([payload.length]);
  if (masked) length[0] = (length[0] ?? 0) | 0x80;
  const mask = masked ? [1, 2, 3, 250] : [];
  const body = payload.map((byte, at) => byte ^ (mask[at & 3] ?? 0));
  return Buffer.concat([Buffer.from([(final ? 0x80 : 0) | opcode]), length, Buffer.from(mask), body]);
}

describe('the reader of a copied WebSocket connection', () => {
  it.each([
    [1, 300],
    [61, 70_000],
    [1_000_000, 70_000],
  ])('reads every message from pieces of %i bytes', (size, longest) => {
    const texts = ['{}', 'é'.repeat(100), 'x'.repeat(longest), ''];
    const bytes = Buffer.concat([
      HEAD,
      ...texts.flatMap((text) => [frame(text, { masked: true }), frame('ping', { opcode: 9 }), frame(text)]),
    ]);
    const reader = createFrameReader();
    const read: string[] = [];
    for (let at = 0; at < bytes.length; at += size) read.push(...reader.push(bytes.subarray(at, at + size)));
    expect(read).toEqual(texts.flatMap((text) => [text, text]));
  });

  it('joins a fragmented message with a ping in between', () => {
    const reader = createFrameReader();
    reader.push(HEAD);
    expect(reader.push(frame('one ', { final: false }))).toEqual([]);
    expect(reader.push(frame('', { opcode: 9 }))).toEqual([]);
    expect(reader.push(frame('two', { opcode: 0 }))).toEqual(['one two']);
  });
});
