/** A name server of one answer: every name has these addresses. */
import { createSocket, type Socket } from 'node:dgram';
import { isIPv4 } from 'node:net';

const [TYPE_A, TYPE_AAAA] = [1, 28];
const HEADER_BYTES = 12;

export function startNameServer(
  addresses: readonly string[],
  delayMs: number,
  onQuestion: (name: string) => void,
): Promise<Socket> {
  const server = createSocket('udp4', (question, { address, port }) => {
    const answer = answerTo(question, addresses, onQuestion);
    setTimeout(() => server.send(answer, port, address), delayMs);
  });
  return new Promise((resolve) => server.bind(53, '127.0.0.1', () => resolve(server)));
}

function answerTo(
  question: Buffer,
  addresses: readonly string[],
  onQuestion: (name: string) => void,
): Buffer {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let size = question[at] ?? 0; size > 0; size = question[at] ?? 0) {
    labels.push(question.toString('latin1', at + 1, at + 1 + size));
    at += 1 + size;
  }
  onQuestion(labels.join('.'));
  const type = question.readUInt16BE(at + 1);
  const found = addresses
    .filter((address) => type === (isIPv4(address) ? TYPE_A : TYPE_AAAA))
    .map((address) => record(type, bytesOf(address)));
  const header = Buffer.from(question.subarray(0, HEADER_BYTES));
  header.writeUInt16BE(0x8180, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(found.length, 6);
  header.writeUInt32BE(0, 8);
  return Buffer.concat([header, question.subarray(HEADER_BYTES, at + 5), ...found]);
}

/** A record of the name in question, whose name is a pointer to it. */
function record(type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc000 | HEADER_BYTES, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(1, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function bytesOf(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const [left = '', right = ''] = address.split('::');
  const words = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((word) => Number.parseInt(word, 16));
  const [first, last] = [words(left), words(right)];
  const all = [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
  return Buffer.from(all.flatMap((word) => [word >> 8, word & 0xff]));
}
