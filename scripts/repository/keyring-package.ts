import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Package, papers, type Source } from '../deb/packages.ts';
import { runTool, ToolMissing } from '../deb/tools.ts';
import type { KeyringOptions } from './release-options.ts';

const NAME = 'dragoman-archive-keyring';
const KEYRING = 'usr/share/keyrings/dragoman-archive-keyring.gpg';

/** A package with the public keys and the address of a repository. It also brings a new key to the devices. */
export function keyringPackage(
  source: Pick<Source, 'root' | 'version' | 'changedAt'>,
  { files, url }: KeyringOptions,
): Package {
  const { version, changedAt } = source;
  return {
    name: NAME,
    version,
    changedAt,
    architecture: 'all',
    depends: null,
    summary: 'keys and address of the repository for Dragoman',
    description: [
      'With these keys, apt and the updates of Dragoman check what they download.',
      'The package also adds the repository to the sources of apt.',
    ],
    files: [
      { path: KEYRING, content: Buffer.concat(files.map((file) => readPublicKeys(source.root, file))) },
      {
        path: 'etc/apt/sources.list.d/dragoman.sources',
        content: `# Updates of Dragoman, checked with the keys of the package ${NAME}.
Types: deb
URIs: ${url}
Suites: stable
Components: main
Signed-By: /${KEYRING}
`,
      },
      ...papers(source, NAME, []),
      {
        path: `usr/share/lintian/overrides/${NAME}`,
        content: `# Adding this repository is the purpose of the package.\n${NAME}: package-installs-apt-sources *\n`,
      },
    ],
  };
}

/** The keys of a file, in the binary form that apt reads without further programs. */
function readPublicKeys(root: string, file: string): Buffer {
  const content = readFileSync(file);
  const isText = content.subarray(0, 5).toString('latin1') === '-----';
  const gpg = (word: string, input: Buffer): Buffer => {
    try {
      return runTool('gpg', ['--batch', '--with-colons', word], { input });
    } catch (error) {
      if (error instanceof ToolMissing) throw error;
      return Buffer.alloc(0);
    }
  };
  const keys = isText ? gpg('--dearmor', content) : content;
  const list = gpg('--show-keys', keys).toString();
  const records = list.split('\n').map((line) => line.split(':'));
  if (records.some(([type]) => type === 'sec'))
    throw new Error(
      `${file} has a secret key, which everybody could read in the package: use "gpg --export"`,
    );
  const publics = records.filter(([type]) => type === 'pub');
  if (publics.length === 0) throw new Error(`${file} has no public key: use "gpg --export"`);
  // The machine that signs has only that script.
  const { status, stderr } = spawnSync('sh', [join(root, 'scripts/release'), 'check', file], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr.trim().replace(/^release: /, ''));
  // After such a key has expired, no device can fetch its successor.
  const mortal = publics.find(([, , , , , , expiresAt = '']) => expiresAt !== '');
  if (mortal !== undefined)
    throw new Error(
      `${file}: the key ${mortal[4]} expires, and then devices refuse all updates: run "gpg --quick-set-expire FINGERPRINT never" and export it again`,
    );
  return keys;
}
