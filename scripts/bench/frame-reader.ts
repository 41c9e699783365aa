/** Reads the text messages in one direction of a WebSocket connection from copied bytes. */
export interface FrameReader {
  /** @returns the messages that are complete with these bytes */
  push(bytes: Buffer): string[];
}

const OPCODE = { continuation: 0, text: 1 } as const;
const HEAD_END = '\r\n\r\n';

export function createFrameReader(): FrameReader {
  let isOpen = false;
  let held: Buffer = Buffer.alloc(0);
  let message: Buffer[] | null = null;

  /** Removes one whole frame from the front; null if there is none yet. */
  const takeFrame = (): { opcode: number; final: boolean; payload: Buffer } | null => {
    if (held.length < 2) return null;
    const [first = 0, second = 0] = held;
    const short = second & 0x7f;
    const lengthBytes = short === 127 ? 8 : short === 126 ? 2 : 0;
    const maskBytes = (second & 0x80) === 0 ? 0 : 4;
    const head = 2 + lengthBytes + maskBytes;
    if (held.length < head) return null;
    const length =
      lengthBytes === 8 ? Number(held.readBigUInt64BE(2)) : lengthBytes === 2 ? held.readUInt16BE(2) : short;
    if (held.length < head + length) return null;
    const payload = Buffer.from(held.subarray(head, head + length));
    if (maskBytes > 0) {
      const mask = held.subarray(head - 4, head);
      for (let at = 0; at < length; at++) payload[at] = (payload[at] ?? 0) ^ (mask[at & 3] ?? 0);
    }
    held = held.subarray(head + length);
    return { opcode: first & 0x0f, final: (first & 0x80) !== 0, payload };
  };

  return {
    push(bytes) {
      held = held.length === 0 ? bytes : Buffer.concat([held, bytes]);
      if (!isOpen) {
        const end = held.indexOf(HEAD_END);
        if (end < 0) return [];
        isOpen = true;
        held = held.subarray(end + HEAD_END.length);
      }
      const messages: string[] = [];
      for (let frame = takeFrame(); frame !== null; frame = takeFrame()) {
        if (frame.opcode === OPCODE.text) message = [frame.payload];
        else if (frame.opcode === OPCODE.continuation) message?.push(frame.payload);
        else continue;
        if (!frame.final || message === null) continue;
        messages.push(Buffer.concat(message).toString('utf8'));
        message = null;
      }
      return messages;
    },
  };
}
