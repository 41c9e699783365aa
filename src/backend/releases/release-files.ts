/** Serves the folder of an apt repository: read-only, public, and without directory listings. */
import { constants, existsSync } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Files } from '../../adapters/watch/watch-server.ts';

const RELEASES_PATH = '/releases/';
/** The file that devices request first. */
const INDEX = 'dists/stable/InRelease';

interface Part {
  readonly start: number;
  readonly end: number;
}

export function createReleaseFiles(folder: string): Files {
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return refuse(response, 405, 'Only GET is possible.');
    const file = await openBelow(folder, pathOf(request.url ?? ''));
    if (file === null) return refuse(response, 404, 'There is no such file.');
    try {
      await send(file, request, response);
    } catch {
      // The client has disconnected, or the disk fails: ending the answer early is the only possible signal.
      response.destroy();
    } finally {
      await file.close();
    }
  };
  return { below: RELEASES_PATH, serve };
}

/** A warning if the folder has no index for devices. */
export function releasesWarning(folder: string | null): string | null {
  if (folder === null || existsSync(join(folder, INDEX))) return null;
  return `releases.path is ${folder}, which has no ${INDEX}: make and sign a repository with scripts/release, or copy it there.`;
}

/** The names in a path; null if one of them cannot be in a repository. */
function pathOf(url: string): readonly string[] | null {
  const path = url.split('?')[0] ?? '';
  try {
    const names = decodeURIComponent(path).slice(RELEASES_PATH.length).split('/');
    // No hidden files, no `..`, and only one spelling of each path.
    return names.every((name) => /^[^.\\\0][^\\\0]*$/.test(name)) ? names : null;
  } catch {
    return null;
  }
}

/** Opens a regular file that is really in the folder: a link may not lead out of it. */
async function openBelow(folder: string, names: readonly string[] | null): Promise<FileHandle | null> {
  if (names === null) return null;
  let file: FileHandle | null = null;
  try {
    const [root, path] = await Promise.all([realpath(folder), realpath(join(folder, ...names))]);
    if (!path.startsWith(root + sep)) return null;
    // Otherwise opening a pipe would wait for its writer.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    if ((await file.stat()).isFile()) return file;
  } catch {
    // Missing or unreadable: for clients both mean "no such file".
  }
  await file?.close();
  return null;
}

async function send(file: FileHandle, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { size, mtime } = await file.stat();
  const changedAt = mtime.toUTCString();
  response.setHeader('last-modified', changedAt);
  response.setHeader('accept-ranges', 'bytes');
  response.setHeader('x-content-type-options', 'nosniff');
  const { range, 'if-range': ifRange, 'if-modified-since': since } = request.headers;
  if (range === undefined && since !== undefined && Date.parse(changedAt) <= Date.parse(since))
    return void response.writeHead(304).end();
  // If the file has changed since an interrupted download, the download starts again.
  const part = range === undefined || (ifRange ?? changedAt) !== changedAt ? null : partOf(range, size);
  if (part === 'none') return void response.writeHead(416, { 'content-range': `bytes */${size}` }).end();
  const { start, end } = part ?? { start: 0, end: size - 1 };
  response.writeHead(part === null ? 200 : 206, {
    'content-type': 'application/octet-stream',
    'content-length': end - start + 1,
    ...(part === null ? {} : { 'content-range': `bytes ${start}-${end}/${size}` }),
  });
  if (request.method === 'HEAD' || size === 0) return void response.end();
  await pipeline(file.createReadStream({ start, end, autoClose: false }), response);
}

/** The one range that a request asks for. null: the whole file, also for several ranges; 'none': beyond the end of the file. */
function partOf(range: string, size: number): Part | 'none' | null {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(range) ?? [];
  if (from === '' && to === '') return null;
  const start = from === '' ? Math.max(0, size - Number(to)) : Number(from);
  const end = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1);
  return start > end || (from === '' && Number(to) === 0) ? 'none' : { start, end };
}

function refuse(response: ServerResponse, status: number, sentence: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${sentence}\n`);
}
