import { createServer } from 'node:net';

/** Below what the system hands out itself to whoever asks for any port: between two looks nobody else comes by one of these. */
const RANGE = { from: 12_000, size: 20_000 };
/** Of two processes at the same time, each tries others. */
const APART = 97;

let tried = 0;

/** A port of loopback's at which nobody listens, for a program that is started later. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = RANGE.from + ((process.pid * APART + tried++) % RANGE.size);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise<void>((resolve) => server.close(() => resolve()));
    return port;
  }
}
