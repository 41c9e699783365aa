import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../ports/clock.ts';

/**
 * Why a request is refused; null: it is accepted. Every web page can make a browser on this machine send requests here, also under
 * the page's own name that points to 127.0.0.1 (DNS rebinding). Host, Origin and Sec-Fetch-Site reveal them.
 */
export function objectionTo({ headers }: IncomingMessage, port: number): string | null {
  const { host = '', origin } = headers;
  const names = [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`];
  if (!names.includes(host.toLowerCase()))
    return `the page is only at http://127.0.0.1:${port}, not at the name in "Host"`;
  if (origin !== undefined && origin.toLowerCase() !== `http://${host.toLowerCase()}`)
    return 'requests of other pages ("Origin") are refused';
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    return 'requests of other pages ("Sec-Fetch-Site") are refused';
  return null;
}

/** Counts calls within each second. The function returns false when there are too many. */
export function createMeter(clock: Clock, mostPerSecond: number): () => boolean {
  let since = clock.now();
  let count = 0;
  return () => {
    const now = clock.now();
    if (now - since >= 1000) {
      since = now;
      count = 0;
    }
    count += 1;
    return count <= mostPerSecond;
  };
}
