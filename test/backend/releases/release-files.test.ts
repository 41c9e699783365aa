import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createReleaseFiles } from '../../../src/backend/releases/release-files.ts';

const TEXT = '0123456789';
const CHANGED_AT = 'Tue, 14 Nov 2023 22:13:20 GMT';

let folder: string;
let server: Server;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-releases-'));
  mkdirSync(join(folder, 'repository/pool'), { recursive: true });
  for (const name of ['repository/pool/a+b~1_all.deb', 'repository/empty', 'repository/.hidden', 'secret'])
    writeFileSync(join(folder, name), name.endsWith('empty') ? '' : TEXT);
  utimesSync(join(folder, 'repository/pool/a+b~1_all.deb'), 1_700_000_000, 1_700_000_000);
  const { serve } = createReleaseFiles(join(folder, 'repository'));
  server = createServer((asked, response) => void serve(asked, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true });
});

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Sends a path as it is: a client of a browser's kind would remove "..". */
function ask(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, headers, method }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, body }));
    })
      .on('error', reject)
      .end();
  });
}
const DEB = '/releases/pool/a+b~1_all.deb';

describe('the files of releases', () => {
  it('are sent with size and date', async () => {
    for (const path of [DEB, '/releases/pool/a%2bb~1_all.deb', `${DEB}?x=1`]) {
      const { status, headers, body } = await ask(path);
      expect([path, status, body]).toEqual([path, 200, TEXT]);
      expect(headers).toMatchObject({ 'content-length': '10', 'last-modified': CHANGED_AT });
    }
    expect(await ask('/releases/empty')).toMatchObject({ status: 200, body: '' });
    expect(await ask(DEB, {}, 'HEAD')).toMatchObject({
      status: 200,
      body: '',
      headers: { 'content-length': '10' },
    });
  });

  it.each([
    '/releases/',
    '/releases/pool',
    '/releases/pool/',
    '/releases/nothing',
    // Longer than a name may be.
    `/releases/${'x'.repeat(300)}`,
    '/releases/../secret',
    '/releases/pool/../../secret',
    '/releases/%2e%2e/secret',
    '/releases/..%2fsecret',
    '/releases/pool%2f..%2f..%2fsecret',
    '/releases//pool/a+b~1_all.deb',
    '/releases/./pool/a+b~1_all.deb',
    '/releases/..\\secret',
    '/releases/.hidden',
    '/releases/pool%00/a',
    '/releases/%',
    '/releases/pool/a+b~1_all.deb/',
  ])('are not there when asked for %s', async (path) => {
    expect(await ask(path)).toMatchObject({ status: 404, body: 'There is no such file.\n' });
  });

  it('are not there when a link leads out of the folder', async () => {
    symlinkSync(join(folder, 'secret'), join(folder, 'repository/link'));
    symlinkSync(folder, join(folder, 'repository/up'));
    symlinkSync('pool', join(folder, 'repository/inside'));
    mkdirSync(join(folder, 'repository-next'));
    writeFileSync(join(folder, 'repository-next/unsigned'), TEXT);
    symlinkSync('../repository-next', join(folder, 'repository/sibling'));
    symlinkSync('../repository-next/unsigned', join(folder, 'repository/its-file'));
    expect((await ask('/releases/sibling/unsigned')).status).toBe(404);
    expect((await ask('/releases/its-file')).status).toBe(404);
    expect((await ask('/releases/link')).status).toBe(404);
    expect((await ask('/releases/up/secret')).status).toBe(404);
    expect((await ask('/releases/inside/a+b~1_all.deb')).body).toBe(TEXT);
  });

  it('are not there when they are not plain files, or nothing is', async () => {
    execFileSync('mkfifo', [join(folder, 'repository/pipe')]);
    expect((await ask('/releases/pipe')).status).toBe(404);
    rmSync(join(folder, 'repository'), { recursive: true });
    expect((await ask(DEB)).status).toBe(404);
  });

  it('are found again when the folder is replaced', async () => {
    rmSync(join(folder, 'repository'), { recursive: true });
    mkdirSync(join(folder, 'repository'));
    writeFileSync(join(folder, 'repository/new'), 'new');
    chmodSync(join(folder, 'repository/new'), 0o644);
    expect((await ask('/releases/new')).body).toBe('new');
  });

  it('cannot be changed', async () => {
    for (const method of ['PUT', 'POST', 'DELETE', 'PATCH'])
      expect((await ask(DEB, {}, method)).status).toBe(405);
    expect((await ask(DEB)).body).toBe(TEXT);
  });

  it.each([
    ['bytes=0-3', '0123', 'bytes 0-3/10'],
    ['bytes=4-', '456789', 'bytes 4-9/10'],
    ['bytes=-2', '89', 'bytes 8-9/10'],
    ['bytes=8-99', '89', 'bytes 8-9/10'],
    ['bytes=-99', TEXT, 'bytes 0-9/10'],
  ])('are sent in part when asked for %s', async (range, body, shown) => {
    expect(await ask(DEB, { range })).toMatchObject({
      status: 206,
      body,
      headers: { 'content-range': shown },
    });
  });

  it.each(['bytes=10-', 'bytes=5-4', 'bytes=-0'])('have no part %s', async (range) => {
    expect(await ask(DEB, { range })).toMatchObject({
      status: 416,
      body: '',
      headers: { 'content-range': 'bytes */10' },
    });
  });

  it.each(['bytes=0-1,3-4', 'lines=1-2', 'bytes=-', 'bytes=a-b'])(
    'are sent whole when asked for %s',
    async (range) => {
      expect(await ask(DEB, { range })).toMatchObject({ status: 200, body: TEXT });
    },
  );

  it('are resumed only when they are the same', async () => {
    const range = 'bytes=4-';
    expect((await ask(DEB, { range, 'if-range': CHANGED_AT })).body).toBe('456789');
    expect((await ask(DEB, { range, 'if-range': 'Tue, 14 Nov 2023 22:13:21 GMT' })).body).toBe(TEXT);
  });

  it('are not sent again when they have not changed', async () => {
    expect((await ask(DEB, { 'if-modified-since': CHANGED_AT })).status).toBe(304);
    expect((await ask(DEB, { 'if-modified-since': 'Tue, 14 Nov 2023 22:13:19 GMT' })).body).toBe(TEXT);
    expect((await ask(DEB, { 'if-modified-since': 'yesterday' })).body).toBe(TEXT);
  });
});
