/** The owner's console in the backend's configuration. */
import * as z from 'zod';
import { plainTextSchema } from './common/plain-text.ts';
import { DESPITE_OTHER_PROBLEMS } from './config.ts';
import { asciiHost, isLoopback, readAddress } from './host-name.ts';

const fileSchema = plainTextSchema.min(1, 'must name a file').max(4096).nullable().default(null);
const addressSchema = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]);

const hostOf = (listen: string): string => readAddress(`http://${listen}`)?.hostname ?? '';

const listenSchema = z
  .string()
  .refine(
    (text) => /^[^/?#@]+:\d{1,5}$/.test(text) && hostOf(text) !== '',
    'must be an address of this machine with a port, such as "127.0.0.1:8443"',
  );

export const consoleSchema = z
  .strictObject({
    listen: listenSchema
      .nullable()
      .default(null)
      .describe('Address of the console, such as "127.0.0.1:8443"; null: there is no console.'),
    tls: z
      .strictObject({
        certFile: fileSchema.describe(
          'Certificate of the console with its chain, PEM. It is read again when it changes.',
        ),
        keyFile: fileSchema.describe('File or systemd credential with the private key of "certFile", PEM.'),
      })
      .prefault({})
      .describe('Without both files the console is served without TLS, and only on a loopback address.'),
    hosts: z
      .array(
        z
          .string()
          .refine(
            (text) => asciiHost(text) !== null,
            'must be a name without scheme and port, such as "kiosks.example"',
          ),
      )
      .max(100)
      .default([])
      .describe(
        'Further names at which the console answers. It always answers at loopback names, the names in its certificate, and the address at which a connection arrives. Empty: also at each name that a proxy of "trustedProxies" passes on.',
      ),
    trustedProxies: z
      .array(
        z
          .string()
          .refine(
            (text) => addressSchema.safeParse(text).success,
            'must be an IP address or a network, such as "10.0.0.5" or "10.0.0.0/8"',
          ),
      )
      .max(100)
      .default([])
      .describe('Proxies whose headers are trusted: X-Forwarded-For, -Proto and -Host.'),
  })
  .superRefine(({ listen, tls }, context) => {
    const issue = (path: string[], message: string): void =>
      context.addIssue({ code: 'custom', path, message });
    const { certFile = null, keyFile = null } = tls ?? {};
    if (certFile !== null && keyFile === null)
      issue(['tls', 'keyFile'], 'is missing: it belongs to "certFile"');
    if (keyFile !== null && certFile === null)
      issue(['tls', 'certFile'], 'is missing: it belongs to "keyFile"');
    const isOpen = typeof listen === 'string' && listenSchema.safeParse(listen).success;
    if (isOpen && certFile === null && !isLoopback(hostOf(listen)))
      issue(
        ['listen'],
        'must be a loopback address such as "127.0.0.1:8443" while "tls" names no certificate: everybody on the network could read passwords',
      );
  }, DESPITE_OTHER_PROBLEMS);

/** Splits `listen` into host and port. */
export function readListen(listen: string): { host: string; port: number } {
  const { hostname, port } = new URL(`http://${listen}`);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port === '' ? 80 : port) };
}
