import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createSystemClock } from '../../../src/adapters/clock.ts';
import { openPageServer, type PageServer } from '../../../src/adapters/screen/page-server.ts';
import { createVirtualClock } from '../../virtual-clock.ts';
import { ask, createFakeSource } from './fake-source.ts';

const TOKEN = 'page-token-1';
const FILES = { script: 'let script = 1;', style: 'body { color: red }' };

let close: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const one of close) await one();
  close = [];
});

async function open() {
  const fake = createFakeSource();
  const clock = createSystemClock();
  const server = await openPageServer({ port: 0, token: TOKEN, files: FILES, source: fake.source, clock });
  close.push(() => server.close());
  return { server, fake };
}

const act = (server: PageServer, body: object | string, headers: object = {}) =>
  ask(server, '/do', {
    method: 'POST',
    headers: { 'X-Page-Token': TOKEN, Origin: server.url, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

/** Opens a stream of events; `until` resolves when a text has come. */
async function listen(server: PageServer) {
  const sent = get(new URL('/events', server.url), { agent: false });
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  response.setEncoding('utf8');
  response.on('data', (part: string) => {
    text += part;
  });
  response.on('error', () => {});
  close.push(async () => void sent.destroy());
  return {
    status: response.statusCode,
    end: () => sent.destroy(),
    ended: new Promise((resolve) => response.on('close', resolve)),
    text: () => text,
    until: (part: string) => expect.poll(() => text).toContain(part),
  };
}

describe('the server of the screen', () => {
  it('serves page, script and style with a policy that allows nothing from elsewhere', async () => {
    const { server } = await open();
    const page = await ask(server, '/');
    expect(page.status).toBe(200);
    expect(page.text).toContain(`<meta name="page-token" content="${TOKEN}">`);
    expect(page.headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'");
    expect(page.headers['content-security-policy']).not.toMatch(/unsafe|\*|https?:/);
    expect(page.headers['x-content-type-options']).toBe('nosniff');
    expect((await ask(server, '/screen.js')).text).toBe(FILES.script);
    expect((await ask(server, '/screen.css')).headers['content-type']).toBe('text/css; charset=utf-8');
  });

  it('listens on loopback alone', async () => {
    const { server } = await open();
    expect(new URL(server.url).hostname).toBe('127.0.0.1');
  });

  it.each([
    [{ Host: 'evil.example' }, 'Host'],
    [{ Host: '127.0.0.1' }, 'Host'],
    [{ Origin: 'http://evil.example' }, 'Origin'],
    [{ Origin: 'null' }, 'Origin'],
    [{ 'Sec-Fetch-Site': 'cross-site' }, 'Sec-Fetch-Site'],
    [{ 'Sec-Fetch-Site': 'same-site' }, 'Sec-Fetch-Site'],
  ])('refuses every path when a request has %j', async (headers, named) => {
    const { server, fake } = await open();
    for (const path of ['/', '/screen.js', '/events']) {
      const { status, text } = await ask(server, path, { headers });
      expect([status, text]).toEqual([403, expect.stringContaining(named)]);
    }
    expect((await act(server, { do: 'end' }, headers)).status).toBe(403);
    expect(fake.actions).toEqual([]);
  });

  it('accepts the names of this machine', async () => {
    const { server } = await open();
    const { port } = new URL(server.url);
    expect((await ask(server, '/', { headers: { Host: `localhost:${port}` } })).status).toBe(200);
  });

  it('carries out an action when the page asks', async () => {
    const { server, fake } = await open();
    const action = { do: 'say', lane: 'main', language: 'en', text: 'Where is the lift?' };
    const { status, text } = await act(server, action);
    expect([status, JSON.parse(text)]).toEqual([200, { ok: true }]);
    expect(fake.actions).toEqual([action]);
  });

  it('passes the problem on when an action is not done', async () => {
    const { server, fake } = await open();
    fake.refuseWith({ code: 'busy', message: 'wait' });
    const { status, text } = await act(server, { do: 'louder', lane: 'main' });
    expect([status, JSON.parse(text)]).toEqual([
      409,
      { ok: false, error: { code: 'busy', message: 'wait' } },
    ]);
  });

  it.each([
    ['not JSON', '{', 400, ''],
    ['an unknown action', { do: 'reboot' }, 400, 'do'],
    ['an unknown field', { do: 'end', now: true }, 400, 'now'],
    [
      'an empty text',
      { do: 'say', lane: 'main', language: 'en', text: '  ' },
      400,
      'text: must not be empty',
    ],
    [
      'a long text',
      { do: 'say', lane: 'main', language: 'en', text: 'x'.repeat(301) },
      400,
      'text: must have at most 300',
    ],
    ['control characters', { do: 'say', lane: 'main', language: 'en', text: 'a\u0000b' }, 400, 'text: '],
    ['a text without its language', { do: 'say', lane: 'main', text: 'hello' }, 400, 'language: '],
    ['a language that is none', { do: 'language', lane: 'main', language: '../x' }, 400, 'language: '],
    ['a large body', 'x'.repeat(5000), 413, 'at most 4096 bytes'],
    ['deep nesting', '['.repeat(2000), 400, ''],
  ])('refuses an action that is %s', async (_what, body, expected, message) => {
    const { server, fake } = await open();
    const { status, text } = await act(server, body);
    expect([status, text]).toEqual([expected, expect.stringContaining(message)]);
    expect(fake.actions).toEqual([]);
  });

  it.each([
    [{ 'X-Page-Token': 'page-token-2' }, 'load the page again'],
    [{ 'X-Page-Token': '' }, 'load the page again'],
    [{ Origin: undefined }, 'Origin'],
  ])('refuses an action when its request has %j', async (headers, message) => {
    const { server, fake } = await open();
    const all = { 'X-Page-Token': TOKEN, Origin: server.url, ...headers };
    const known = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
    const { status, text } = await ask(server, '/do', {
      method: 'POST',
      headers: known,
      body: '{"do":"end"}',
    });
    expect([status, text]).toEqual([403, expect.stringContaining(message)]);
    expect(fake.actions).toEqual([]);
  });

  it('reads with GET and acts with POST', async () => {
    const { server, fake } = await open();
    const answers = await Promise.all([
      ask(server, '/do'),
      ask(server, '/', { method: 'POST' }),
      ask(server, '/events', { method: 'POST' }),
      ask(server, '/other'),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([405, 405, 405, 404]);
    expect(fake.actions).toEqual([]);
  });

  it('limits actions to a few in a second', async () => {
    const { server, fake } = await open();
    const answers = await Promise.all(Array.from({ length: 9 }, () => act(server, { do: 'end' })));
    expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThan(0);
    expect(fake.actions.length).toBeLessThan(9);
  });
});

describe('the beat of the page', () => {
  it('has its age, and is unknown before the first one', async () => {
    const clock = createVirtualClock();
    const { source } = createFakeSource();
    const server = await openPageServer({ port: 0, token: TOKEN, files: FILES, source, clock });
    close.push(() => server.close());
    const age = async (): Promise<unknown> => JSON.parse((await ask(server, '/beat')).text);
    const headers = { 'X-Page-Token': TOKEN, Origin: server.url };
    expect(await age()).toEqual({ ageMs: null });
    expect((await ask(server, '/beat', { method: 'POST', headers })).status).toBe(200);
    clock.advance(7000);
    expect(await age()).toEqual({ ageMs: 7000 });
    await ask(server, '/beat', { method: 'POST', headers });
    expect(await age()).toEqual({ ageMs: 0 });
  });

  it.each([{ 'X-Page-Token': 'page-token-2' }, { Origin: undefined }])(
    'is refused when its request has %j',
    async (wrong) => {
      const { server } = await open();
      const all = Object.entries({ 'X-Page-Token': TOKEN, Origin: server.url, ...wrong });
      const headers = Object.fromEntries(all.filter(([, value]) => value !== undefined));
      expect((await ask(server, '/beat', { method: 'POST', headers })).status).toBe(403);
      expect((await ask(server, '/beat')).text).toBe('{"ageMs":null}');
    },
  );
});

describe('the events of the screen', () => {
  it('begin with a snapshot, and go on with numbered changes', async () => {
    const complaint = vi.spyOn(console, 'error');
    const { server, fake } = await open();
    const page = await listen(server);
    await page.until('event: snapshot\nid: 7\ndata: {"run":"run-1","seq":7');
    fake.change({ level: 3 });
    await page.until('event: change\nid: 8\ndata: {"seq":8,"level":3}\n\n');
    expect(page.text().match(/event: snapshot/g)).toHaveLength(1);
    // The library prints an answer that was sent twice.
    expect(complaint).not.toHaveBeenCalled();
    complaint.mockRestore();
  });

  it('cost one snapshot when a page connects again', async () => {
    const { server, fake } = await open();
    const first = await listen(server);
    await first.until('snapshot');
    first.end();
    await expect.poll(() => server.clients).toBe(0);
    expect(fake.listeners.size).toBe(0);
    fake.change({ level: 5 });
    const second = await listen(server);
    await second.until('"level":5');
    expect(second.text().match(/event: /g)).toHaveLength(1);
  });

  /** The timer of the server that looks for slow readers. */
  const SLOW_READERS = 1;
  it('come each second, by one timer however often the page was loaded again', async () => {
    const clock = createVirtualClock();
    const { source } = createFakeSource();
    const server = await openPageServer({ port: 0, token: TOKEN, files: FILES, source, clock });
    close.push(() => server.close());
    for (let load = 0; load < 3; load++) {
      const page = await listen(server);
      await page.until('snapshot');
      expect(clock.armed).toBe(1 + SLOW_READERS);
      page.end();
      await expect.poll(() => server.clients).toBe(0);
      expect(clock.armed).toBe(SLOW_READERS);
    }
    const pages = [await listen(server), await listen(server)];
    expect(clock.armed).toBe(1 + SLOW_READERS);
    for (let second = 0; second < 3; second++) clock.advance(1000);
    for (const page of pages) {
      await page.until('event: ping\ndata:\n\nevent: ping\ndata:\n\nevent: ping');
      expect(page.text().match(/event: ping/g)).toHaveLength(3);
    }
    pages[0]?.end();
    await expect.poll(() => server.clients).toBe(1);
    clock.advance(1000);
    await pages[1]?.until('ping\ndata:\n\nevent: ping\ndata:\n\nevent: ping\ndata:\n\nevent: ping');
  });

  it('leave neither a listener nor a timer when the server closes', async () => {
    const clock = createVirtualClock();
    const { source, listeners } = createFakeSource();
    const server = await openPageServer({ port: 0, token: TOKEN, files: FILES, source, clock });
    await listen(server);
    expect([listeners.size, clock.armed]).toEqual([1, 1 + SLOW_READERS]);
    await server.close();
    expect([listeners.size, clock.armed]).toEqual([0, 0]);
  });

  it('refuse the ninth page, and accept it when another has gone', async () => {
    const { server } = await open();
    const pages = await Promise.all(Array.from({ length: 8 }, () => listen(server)));
    expect((await ask(server, '/events')).status).toBe(503);
    pages[0]?.end();
    await expect.poll(() => server.clients).toBe(7);
    expect((await listen(server)).status).toBe(200);
  });

  it('drop a page that does not read, and keep the others', async () => {
    const { server, fake } = await open();
    const reader = await listen(server);
    const { port } = new URL(server.url);
    const stalled = connect(Number(port), '127.0.0.1');
    close.push(async () => void stalled.destroy());
    stalled.write(`GET /events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
    stalled.pause();
    await expect.poll(() => server.clients).toBe(2);
    const text = 'x'.repeat(10_000);
    for (let number = 1; server.clients === 2 && number < 3000; number++) {
      fake.change({ texts: [{ language: 'es', text, breaks: false, isSpoken: false, number }] });
      // The reader gets its turn.
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(server.clients).toBe(1);
    fake.change({ level: 9 });
    await reader.until('"level":9');
  });

  it('answer after a second when there are more than a hundred requests in one', async () => {
    const clock = createVirtualClock();
    const { source } = createFakeSource();
    const server = await openPageServer({ port: 0, token: TOKEN, files: FILES, source, clock });
    close.push(() => server.close());
    for (let count = 0; count < 100; count++) expect((await ask(server, '/')).status).toBe(200);
    let late: number | null = null;
    const asked = ask(server, '/').then(({ status }) => {
      late = status;
    });
    // The late answer, and the look for slow readers.
    await expect.poll(() => clock.armed).toBe(2);
    expect(late).toBeNull();
    clock.advance(1000);
    await asked;
    expect(late).toBe(429);
    expect((await ask(server, '/')).status).toBe(200);
    for (let count = 0; count < 99; count++) await ask(server, '/');
    const cut = expect(ask(server, '/')).rejects.toThrow();
    await expect.poll(() => clock.armed).toBe(2);
    await server.close();
    await cut;
    expect(clock.armed).toBe(0);
  });

  it('go on, and the page loads, when a program holds more connections than there are', async () => {
    const { server, fake } = await open();
    const page = await listen(server);
    const { port } = new URL(server.url);
    let held = 0;
    for (let count = 0; count < 150; count++) {
      const socket = connect(Number(port), '127.0.0.1');
      close.push(async () => void socket.destroy());
      socket.on('error', () => {});
      socket.on('close', () => {
        held -= 1;
      });
      await once(socket, 'connect');
      held += 1;
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n');
    }
    await expect.poll(() => held).toBeLessThan(64);
    expect((await ask(server, '/')).status).toBe(200);
    fake.change({ level: 4 });
    await page.until('"level":4');
  });

  it('go on when more requests wait for their late answer than there are connections', async () => {
    const clock = createVirtualClock();
    const { source, change } = createFakeSource();
    const server = await openPageServer({ port: 0, token: TOKEN, files: FILES, source, clock });
    close.push(() => server.close());
    const page = await listen(server);
    const { port } = new URL(server.url);
    for (let count = 0; count < 250; count++) {
      const socket = connect(Number(port), '127.0.0.1');
      close.push(async () => void socket.destroy());
      socket.on('error', () => {});
      await once(socket, 'connect');
      socket.write(`GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
      // The server reads it before the next one comes.
      for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    await expect.poll(() => clock.armed).toBeGreaterThan(50);
    change({ level: 6 });
    await page.until('"level":6');
  });

  it('survive broken requests', async () => {
    const { server } = await open();
    const { port } = new URL(server.url);
    for (const bytes of ['\u0000\u0001\r\n\r\n', 'GET / HTTP/9.9\r\n\r\n', `GET /${'a'.repeat(20_000)}`]) {
      const socket = connect(Number(port), '127.0.0.1');
      socket.on('error', () => {});
      socket.write(bytes);
      await once(socket, 'close');
    }
    expect((await ask(server, '/')).status).toBe(200);
  });
});
