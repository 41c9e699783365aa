/** A signed repository with a newer version, served on the loopback of an emulated machine. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeKey, signRepository } from '../../nspawn/update-repository.ts';
import type { Machine } from '../machine.ts';
import { NEXT_VERSION, PARCEL_BYTES } from '../setup.ts';

const PORT = 8000;
export const MANIFEST = `http://127.0.0.1:${PORT}/dists/stable/InRelease`;
const PACKAGE = `dragoman_${NEXT_VERSION}_all.deb`;
/** In memory: after each start of the machine the repository is shut. */
const OPEN = '/run/repository-is-open';
/** A package takes this long (ms), as over a slow line. */
const PACKAGE_TAKES_MS = 3000;

const SERVER = `const { createServer } = require('node:http');
const { existsSync, readFileSync } = require('node:fs');
createServer((request, response) => {
  let content;
  try {
    content = readFileSync('/srv/repository' + new URL(request.url, 'http://x').pathname);
  } catch {
    return response.writeHead(404).end();
  }
  const piece = request.url.endsWith('.deb') ? Math.ceil(content.length / ${PACKAGE_TAKES_MS / 50}) : content.length;
  let sent = 0;
  response.writeHead(200, { 'content-length': content.length });
  const next = setInterval(() => {
    if (!existsSync('${OPEN}')) return;
    response.write(content.subarray(sent, (sent += piece)));
    if (sent >= content.length) { clearInterval(next); response.end(); }
  }, 50);
  response.on('close', () => clearInterval(next));
}).listen(${PORT}, '127.0.0.1');
`;
const UNIT = `[Unit]
Before=dragoman-update.service
[Service]
ExecStart=/usr/bin/node /usr/local/lib/repository.cjs
[Install]
WantedBy=multi-user.target
`;

/** Signs the newer package of the owner's files, and serves it. The device trusts the key. */
export async function offerNextVersion(machine: Machine): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-repository-'));
  const key = makeKey('owner');
  try {
    mkdirSync(join(folder, 'pool'));
    writeFileSync(join(folder, 'pool', PACKAGE), await machine.read(`/srv/goods/next/${PACKAGE}`));
    signRepository(folder, key);
    await machine.sh('mkdir -p /srv/repository');
    await machine.must(
      ['tar', '-xC', '/srv/repository'],
      execFileSync('tar', ['-cC', folder, '.'], { maxBuffer: PARCEL_BYTES }),
    );
    await machine.write('/usr/share/keyrings/dragoman-archive-keyring.gpg', key.publicKey);
  } finally {
    key.close();
    rmSync(folder, { recursive: true });
  }
  await machine.write('/usr/local/lib/repository.cjs', SERVER);
  await machine.write('/etc/systemd/system/repository.service', UNIT);
  await machine.sh('systemctl enable --quiet --now repository');
}

/** It answers nothing before. */
export const openRepository = (machine: Machine): Promise<string> => machine.must(['touch', OPEN]);
