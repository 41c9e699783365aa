/** A signed repository with a newer version, served on the loopback of an emulated machine. */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeKey, signRepository } from '../../nspawn/update-repository.ts';
import { NEXT_VERSION } from '../setup.ts';
import type { UmlMachine } from './uml-machine.ts';

const PORT = 8000;
/** Its signed list. */
export const MANIFEST = `http://127.0.0.1:${PORT}/dists/stable/InRelease`;
export const PACKAGE = `dragoman_${NEXT_VERSION}_all.deb`;
/** In memory: after each start of the machine the repository is shut. */
const OPEN = '/run/repository-is-open';
/** A package takes this long (ms), as over a slow line. */
const PACKAGE_TAKES_MS = 3000;

const SERVER = `const { createServer } = require('node:http');
const { existsSync, readFileSync } = require('node:fs');
createServer((request, response) => {
  let content;
  try {
    content = readFileSync('/srv/goods/repository' + new URL(request.url, 'http://x').pathname);
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

/** Adds a repository with the newer package, and its key, to the owner's files. */
export async function signNextVersion(goods: string): Promise<void> {
  const [repository, key] = [join(goods, 'repository'), makeKey('owner')];
  try {
    mkdirSync(join(repository, 'pool'), { recursive: true });
    copyFileSync(join(goods, 'next', PACKAGE), join(repository, 'pool', PACKAGE));
    signRepository(repository, key);
    writeFileSync(join(goods, 'key.gpg'), key.publicKey);
  } finally {
    key.close();
  }
}

/** Serves the repository, whose key the device trusts. */
export async function offerNextVersion(machine: UmlMachine): Promise<void> {
  await machine.sh('install -D -m 644 /srv/goods/key.gpg /usr/share/keyrings/dragoman-archive-keyring.gpg');
  await machine.write('/usr/local/lib/repository.cjs', SERVER);
  await machine.write('/etc/systemd/system/repository.service', UNIT);
  await machine.sh('systemctl enable --quiet --now repository');
}

/** It answers nothing before. */
export const openRepository = (machine: UmlMachine): Promise<string> => machine.must(['touch', OPEN]);
