import { createServer } from 'node:http';
import { createServer as createTcpServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { judgeUpgrade } from '../../../../../src/device/doctor/checks/stream/stream-rules.ts';
import { askForUpgrade } from '../../../../../src/device/doctor/checks/stream/upgrade.ts';
import { portOf } from '../../../../adapters/weak-certificates.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

const LIMIT_MS = 30_000;

describe('the doctor at a stream host', () => {
  const served = async (server: Server): Promise<string> => {
    closing.push(() => server.close());
    return `ws://127.0.0.1:${await portOf(server)}/stream?token=abcdef`;
  };
  const judged = async (server: Server) =>
    judgeUpgrade(await askForUpgrade(await served(server), undefined, LIMIT_MS), 'stream.example');

  it('names the address of a redirect, without login and query', async () => {
    const location = 'https://anna:pass@other.example/login?token=abcdef';
    const server = createServer((_, response) => response.writeHead(302, { location }).end());
    expect(await judged(server)).toMatchObject({
      verdict: 'warning',
      finding: expect.stringMatching(/HTTP 302, which leads to https:\/\/other\.example\/login$/),
      fix: expect.stringMatching(/^Redirects are not followed: change streamUrl/),
    });
  });

  it('names the words of the parser when no HTTP comes back', async () => {
    const server = createTcpServer((socket) => socket.end('220 mail\r\n').on('error', () => {}));
    expect((await judged(server)).finding).toMatch(/does not answer .*Expected HTTP/);
  });
});
