/** The index of a repository for apt: its packages, with checksums. */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { gzip } from '../deb/file-tree.ts';
import { ARCHITECTURES } from '../deb/node-runtime.ts';
import { runTool } from '../deb/tools.ts';

export const SUITE = 'dists/stable';
export const POOL = 'pool/main/d/dragoman';
const COMPONENT = 'main';
const CHECKSUM = /^ ([0-9a-f]{64}) +\d+ /gm;

/**
 * Writes the index of all packages in the pool. Until it is signed, devices use the previous index, whose files stay
 * below by-hash.
 * @returns the checksum of the file to sign
 */
export function writeIndex(repository: string): string {
  const lists = ARCHITECTURES.flatMap((architecture) => {
    const folder = `${COMPONENT}/binary-${architecture}`;
    const packages = packagesOf(repository, architecture);
    return [
      { path: `${folder}/Packages`, content: packages },
      { path: `${folder}/Packages.gz`, content: gzip(packages) },
      // Without -T0: the number of processors would change the bytes.
      {
        path: `${folder}/Packages.xz`,
        content: runTool('xz', ['-9', '--threads=1', '--stdout'], { input: packages }),
      },
    ];
  });
  // Without dates: the signing script adds Date and Valid-Until.
  const release = `Origin: Dragoman
Label: Dragoman
Suite: stable
Codename: stable
Architectures: ${[...ARCHITECTURES].sort().join(' ')}
Components: ${COMPONENT}
Acquire-By-Hash: yes
SHA256:
${lists.map(({ path, content }) => ` ${sha256(content)} ${String(content.length).padStart(10)} ${path}\n`).join('')}`;
  const suite = join(repository, SUITE);
  for (const { path, content } of lists)
    place(join(suite, dirname(path), 'by-hash/SHA256', sha256(content)), content);
  for (const { path, content } of lists) place(join(suite, path), content);
  place(join(suite, 'Release'), Buffer.from(release));
  removeOldLists(suite, release);
  return sha256(Buffer.from(release));
}

function packagesOf(repository: string, architecture: string): Buffer {
  const checksums = ['MD5', 'SHA1', 'SHA512'].flatMap((name) => ['-o', `APT::FTPArchive::${name}=false`]);
  return runTool('apt-ftparchive', [...checksums, '--arch', architecture, 'packages', POOL], {
    cwd: repository,
  });
}

/** Removes lists that neither this index nor the last signed one names. */
function removeOldLists(suite: string, release: string): void {
  const signed = join(suite, 'InRelease');
  const texts = [release, existsSync(signed) ? readFileSync(signed, 'utf8') : ''];
  const named = new Set(texts.flatMap((text) => [...text.matchAll(CHECKSUM)].map(([, hash]) => hash)));
  for (const architecture of ARCHITECTURES) {
    const folder = join(suite, COMPONENT, `binary-${architecture}`, 'by-hash/SHA256');
    for (const hash of readdirSync(folder)) if (!named.has(hash)) rmSync(join(folder, hash));
  }
}

/** Writes a file atomically, readable for a web server. */
export function place(path: string, content: Buffer): void {
  mkdirSync(dirname(path), { recursive: true });
  const draft = join(dirname(path), '.draft');
  writeFileSync(draft, content);
  chmodSync(draft, 0o644);
  renameSync(draft, path);
}

export const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex');
