import { once } from 'node:events';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { refused } from '../../service-events.ts';
import { accept, listen, open, refuse, TOKEN } from './peer.ts';

describe('a stream that is not opened', () => {
  const envelope = (errorCode: number, title: string): string =>
    JSON.stringify({
      ok: false,
      errors: [
        { type: 'urn:x', status: 409, title, detail: 'some detail', instance: 'i1', error_code: errorCode },
      ],
    });
  const answer = (socket: Duplex, status: string, body: string, headers = ''): void => {
    socket.end(`HTTP/1.1 ${status}\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  };

  it('is refused with status, number and texts of the error envelope', async () => {
    const url = await refuse((socket) =>
      answer(socket, '409 Conflict', envelope(202100, 'session_already_used'), 'Retry-After: 7\r\n'),
    );
    const { until, listener } = listen();
    open(url, listener);
    const [, refusal] = await until('refused');
    expect(refusal).toEqual({
      type: 'refused',
      reason: 'session_already_used',
      status: 409,
      errorCode: 202100,
      detail: 'session_already_used: some detail',
      retryAfterMs: 7000,
    });
  });

  it.each([
    ['no body', ''],
    ['a body that is not JSON', '<html>Forbidden</html>'],
    ['a body of another shape', '["no"]'],
    ['a huge body', 'x'.repeat(200_000)],
  ])('is refused by its status alone with %s', async (_, body) => {
    const url = await refuse((socket) => answer(socket, '403 Forbidden', body));
    const { until, listener } = listen();
    open(url, listener);
    const [, refusal] = await until('refused');
    expect(refusal).toEqual(refused('forbidden', { status: 403 }));
  });

  it('is refused with a text fit to show: one short line, without the token', async () => {
    const detail = `no\r\n\u001b[31m ${TOKEN} of token=${TOKEN}&x\u2028${'y'.repeat(500)}`;
    const body = JSON.stringify({ errors: [{ title: 'Insufficient balance', detail, error_code: 100_050 }] });
    const url = await refuse((socket) => answer(socket, '403 Forbidden', body));
    const { until, listener } = listen();
    open(url, listener);
    const [, refusal] = await until('refused');
    const said = (refusal as { detail: string }).detail;
    expect(said).toMatch(/^Insufficient balance: no \[31m \[redacted\] of token=\[redacted\]&x y+$/);
    expect(said).toHaveLength(200);
  });

  it.each([
    ['31536000', '', 31_536_000_000],
    ['Wed, 21 Oct 2026 07:28:30 GMT', 'Date: Wed, 21 Oct 2026 07:28:00 GMT\r\n', 30_000],
    ['Wed, 21 Oct 2026 07:28:30 GMT', '', null],
    ['soon', '', null],
  ])('is refused with Retry-After: %s', async (header, date, retryAfterMs) => {
    const url = await refuse((socket) =>
      answer(socket, '503 Service Unavailable', '', `Retry-After: ${header}\r\n${date}`),
    );
    const { until, listener } = listen();
    open(url, listener);
    const [, refusal] = await until('refused');
    expect(refusal).toMatchObject({ retryAfterMs });
  });

  it.each([301, 302, 303, 307, 308])('does not follow the redirect %i', async (status) => {
    let followed = 0;
    const elsewhere = await refuse((socket) => {
      followed += 1;
      socket.destroy();
    });
    const url = await refuse((socket) =>
      answer(socket, `${status} Elsewhere`, '', `Location: ${elsewhere}\r\n`),
    );
    const { until, listener } = listen();
    open(url, listener);
    expect((await until('refused'))[1]).toMatchObject({ status });
    await sleep(50);
    expect(followed).toBe(0);
  });

  it('is refused although the promised body never comes', async () => {
    const url = await refuse((socket) => {
      socket.write(
        'HTTP/1.1 503 Service Unavailable\r\nContent-Length: 100\r\nRetry-After: Tomorrow\r\n\r\n{',
      );
    });
    const { until, listener } = listen();
    open(url, listener);
    const [, refusal] = await until('refused');
    expect(refusal).toMatchObject({ status: 503, reason: 'service_error', retryAfterMs: null });
  });

  it('has not spent the token when nothing listens', async () => {
    const probe = createTcpServer().listen(0, '127.0.0.1');
    await once(probe, 'listening');
    const { port } = probe.address() as AddressInfo;
    probe.close();
    await once(probe, 'close');
    const { until, listener } = listen();
    open(`ws://127.0.0.1:${port}/`, listener);
    const [, spent, message] = await until('unreached');
    expect(spent).toBe(false);
    expect(message).toBe('the service does not accept connections');
  });

  it('may have spent the token when the connection breaks during the upgrade, and never shows it', async () => {
    const url = await refuse((socket) => socket.destroy());
    const { said, until, listener } = listen();
    open(url, listener);
    const [, spent] = await until('unreached');
    expect(spent).toBe(true);
    expect(JSON.stringify(said)).not.toContain(TOKEN);
  });

  it('reports nothing when it is closed before it is open', async () => {
    const { url, peer } = await accept();
    const { said, listener } = listen();
    open(url, listener).terminate();
    await Promise.race([peer, new Promise((resolve) => setTimeout(resolve, 100))]);
    expect(said).toEqual([]);
  });
});
