/** A relay between backend and service that records the issued tokens, which no program prints. */
import { readFileSync } from 'node:fs';
import { createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';

export interface TokenRelay {
  readonly port: number;
  readonly tokens: readonly string[];
  close(): void;
}

export async function startTokenRelay(
  servicePort: number,
  files: { readonly certificate: string; readonly key: string; readonly authority: string },
): Promise<TokenRelay> {
  const [cert, key, ca] = [files.certificate, files.key, files.authority].map((file) => readFileSync(file));
  const tokens: string[] = [];
  const server = createServer({ cert, key }, (asked, answered) => {
    const { method, url: path, headers } = asked;
    const onward = request({ host: '127.0.0.1', port: servicePort, ca, method, path, headers }, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.on('end', () => {
        const body = Buffer.concat(parts);
        for (const [, token] of body.toString().matchAll(/"token"\s*:\s*"([^"]{16,})"/g))
          tokens.push(token ?? '');
        answered.writeHead(answer.statusCode ?? 502, answer.headers);
        answered.end(body);
      });
    });
    onward.on('error', () => answered.destroy());
    asked.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, tokens, close: () => void server.close() };
}
