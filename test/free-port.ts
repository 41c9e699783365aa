import { createServer } from 'node:net';

/** Port range below the system's ephemeral ports, so that no other program gets one of these in the meantime. */
const RANGE = { from: 12_000, size: 20_000 };
/** Step between the first ports of processes, so that parallel processes try different ports. */
const APART = 97;

let tried = 0;

/** Finds a free port on loopback, for a program that is started later. */
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
