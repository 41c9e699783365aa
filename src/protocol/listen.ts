/** Addresses on which a program listens. */
import * as z from 'zod';
import { isLoopback, readAddress } from './host-name.ts';

const LARGEST_PORT = 65_535;

/** `host:port` with an IP address or "localhost"; null: does not listen. */
export const listenSchema = z
  .string()
  .refine((text) => hostOf(text) !== null, 'must be an IP address with a port, such as "127.0.0.1:9464"')
  .nullable()
  .default(null);

/** Like `listenSchema`, but only a loopback address, which other machines cannot reach. */
export const ownListenSchema = z
  .string()
  .refine(
    (text) => isLoopback(hostOf(text) ?? ''),
    'must be a loopback address with a port, such as "127.0.0.1:9465"',
  )
  .nullable()
  .default(null);

/** The host of `host:port`; null if the text is invalid, or the host is a name other than "localhost". */
function hostOf(text: string): string | null {
  const [, host = '', port = ''] = /^(.+):(\d{1,5})$/.exec(text) ?? [];
  if (host === '' || Number(port) > LARGEST_PORT) return null;
  const hostname = readAddress(`http://${text}`)?.hostname ?? '';
  const isAddress = /^\d+(\.\d+){3}$/.test(hostname) || hostname.startsWith('[') || hostname === 'localhost';
  return isAddress && hostname === host.toLowerCase() ? hostname : null;
}

/** Whether other machines can reach this address. */
export function isReachable(listen: string | null): boolean {
  return listen !== null && !isLoopback(hostOf(listen) ?? '');
}
