/**
 * A web server for tests of apt: it serves a folder, and misbehaves at some paths. Arguments: port, folder.
 * POST /steer with `{"endless": REGEXP, "stalled": REGEXP, "missing": REGEXP, "portal": true}` says where; each call resets the bytes
 * that GET /bytes returns.
 */
import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { join, normalize } from 'node:path';

const [port = '', folder = ''] = process.argv.slice(2);
const BLOCK = Buffer.alloc(65_536, 'x');
/** Pace of an endless file: 6.5 MB a second, a fast line. */
const BLOCK_MS = 10;
let steered = {};
let bytes = 0;

const matches = (kind, path) => steered[kind] !== undefined && new RegExp(steered[kind]).test(path);

function send(response, block) {
  bytes += block.length;
  return response.write(block);
}

function endless(response) {
  response.writeHead(200, { 'content-type': 'application/octet-stream' });
  const timer = setInterval(() => send(response, BLOCK), BLOCK_MS);
  response.on('close', () => clearInterval(timer));
}

function answer(path, response) {
  if (steered.portal)
    return response.end('<html><body>Please log in to the Wi-Fi of the museum.</body></html>');
  if (matches('missing', path)) return response.writeHead(404).end();
  if (matches('endless', path)) return endless(response);
  const file = join(folder, normalize(path));
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found?.isFile()) return response.writeHead(404).end();
  response.writeHead(200, { 'content-length': found.size, 'last-modified': found.mtime.toUTCString() });
  if (matches('stalled', path)) return send(response, BLOCK.subarray(0, Math.floor(found.size / 2)));
  createReadStream(file)
    .on('data', (block) => {
      bytes += block.length;
    })
    .pipe(response);
}

createServer((request, response) => {
  const path = decodeURIComponent(request.url.split('?')[0]);
  if (path === '/bytes') return response.end(String(bytes));
  if (path !== '/steer') return answer(path, response);
  let text = '';
  request.on('data', (part) => {
    text += part;
  });
  request.on('end', () => {
    steered = JSON.parse(text);
    bytes = 0;
    response.end();
  });
}).listen(Number(port), '127.0.0.1');
