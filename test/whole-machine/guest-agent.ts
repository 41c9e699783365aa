/** Client of the guest agent in a virtual machine, which works without the machine's network. */
import { connect, type Socket } from 'node:net';
import { z } from 'zod';

const answerSchema = z.object({
  return: z.unknown().optional(),
  error: z.object({ desc: z.string() }).optional(),
});
const startedSchema = z.object({ pid: z.number() });
const statusSchema = z.object({
  exited: z.boolean(),
  exitcode: z.number().optional(),
  signal: z.number().optional(),
  'out-data': z.string().optional(),
  'err-data': z.string().optional(),
});

export interface Output {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface GuestAgent {
  /** Runs a program as root. */
  run(words: readonly string[], input: Uint8Array, limitMs: number): Promise<Output>;
  /** Whether the agent answers. Call it first after a saved state was loaded. */
  ping(limitMs: number): Promise<boolean>;
  close(): void;
}

const ANSWER_LIMIT_MS = 20_000;
const POLL_MS = 40;
/** Wait until a started program listens (ms). */
const THERE_LIMIT_MS = 60_000;

export const openGuestAgent = async (path: string): Promise<GuestAgent> =>
  guestAgentOn(await connected(path));

export function guestAgentOn(socket: Socket): GuestAgent {
  let text = '';
  let hear: ((line: string) => void) | null = null;
  socket.setEncoding('utf8').on('data', (part: string) => {
    text += part;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      const line = text.slice(0, end).replaceAll('\ufffd', '');
      text = text.slice(end + 1);
      hear?.(line);
    }
  });
  socket.on('error', () => {});
  const line = (wanted: (found: z.infer<typeof answerSchema>) => boolean, limitMs: number) =>
    new Promise<unknown>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error('the guest agent is silent')), limitMs);
      hear = (found) => {
        const read = answerSchema.safeParse(JSON.parse(found));
        if (!read.success || !wanted(read.data)) return;
        clearTimeout(late);
        hear = null;
        if (read.data.error) reject(new Error(read.data.error.desc));
        else resolve(read.data.return);
      };
    });
  // One request at a time.
  let queue: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(act: () => Promise<T>): Promise<T> => {
    const mine = queue.then(act, act);
    queue = mine.catch(() => {});
    return mine;
  };
  const ask = (execute: string, words: object) =>
    inTurn(() => {
      const answer = line(() => true, ANSWER_LIMIT_MS);
      socket.write(`${JSON.stringify({ execute, arguments: words })}\n`);
      return answer;
    });
  return {
    async run([path = '', ...arg], input, limitMs) {
      const endsAt = performance.now() + limitMs;
      const { pid } = startedSchema.parse(
        await ask('guest-exec', {
          path,
          arg,
          env: ['PATH=/usr/sbin:/usr/bin:/sbin:/bin', 'LC_ALL=C.UTF-8', 'HOME=/root'],
          'capture-output': true,
          'input-data': Buffer.from(input).toString('base64'),
        }),
      );
      for (;;) {
        const status = statusSchema.parse(await ask('guest-exec-status', { pid }));
        if (status.exited)
          return {
            code: status.exitcode ?? 128 + (status.signal ?? 0),
            stdout: Buffer.from(status['out-data'] ?? '', 'base64'),
            stderr: Buffer.from(status['err-data'] ?? '', 'base64').toString(),
          };
        if (performance.now() > endsAt) throw new Error(`${path} ${arg.join(' ')} does not end`);
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    },
    ping: (limitMs) =>
      inTurn(async () => {
        const id = Math.floor(Math.random() * 2 ** 31);
        const answer = line((found) => found.return === id, limitMs);
        // Makes the agent drop an incomplete line.
        socket.write(
          Buffer.concat([
            Buffer.of(0xff),
            Buffer.from(`{"execute":"guest-sync","arguments":{"id":${id}}}\n`),
          ]),
        );
        return answer.then(
          () => true,
          () => false,
        );
      }),
    close: () => void socket.destroy(),
  };
}

/** Connects to a socket, which exists once QEMU has started. */
export async function connected(path: string): Promise<Socket> {
  for (const endsAt = performance.now() + THERE_LIMIT_MS; ; ) {
    try {
      return await new Promise<Socket>((resolve, reject) => {
        const socket = connect(path);
        socket.once('connect', () => resolve(socket)).once('error', reject);
      });
    } catch (error) {
      if (performance.now() > endsAt) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
