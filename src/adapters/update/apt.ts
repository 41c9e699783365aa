import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { explainApt, readParagraph } from '../../core/update/apt-answers.ts';
import { type Offer, type Repository, UpdateTrouble } from '../../ports/update.ts';
import { troubleOf } from './folder.ts';
import { type ProgramResult, runProgram } from './run-program.ts';

/** Timeouts (ms). A download of 30 MB over a slow line takes long. */
const LIST_LIMIT_MS = 600_000;
const DOWNLOAD_LIMIT_MS = 3_600_000;
const UNPACK_LIMIT_MS = 600_000;
const KIB = 1024;

export interface AptPlaces {
  /** The updater's folder, which contains a separate folder for apt. */
  readonly root: string;
  /** Possible paths of the device's own list of sources; the first existing one counts. */
  readonly sources: readonly string[];
  readonly keyring: string;
}

/** apt with a configuration and a state of its own: it takes no lock, and does not see the system's lists. */
export function createAptRepository({ root, sources, keyring }: AptPlaces): Repository {
  const own = join(root, 'apt');
  const inOwn = (name: string): string => join(own, name);
  const environment = { APT_CONFIG: inOwn('apt.conf') };
  const apt = (program: string, words: readonly string[], limitMs: number, cwd = own) =>
    runProgram(program, words, { cwd, env: environment, limitMs });
  const prepare = async (manifestUrl: string | null): Promise<void> => {
    for (const folder of ['empty', 'state', 'lists/partial', 'cache/archives/partial'])
      await mkdir(inOwn(folder), { recursive: true });
    await writeFile(inOwn('status'), '');
    const ordered = inOwn('ordered.sources');
    if (manifestUrl !== null) await writeFile(ordered, sourceOf(manifestUrl, keyring));
    await writeFile(
      inOwn('apt.conf'),
      configuration(own, manifestUrl === null ? await ownSources() : ordered),
    );
  };
  const ownSources = async (): Promise<string> => {
    for (const path of sources) if (await isThere(path)) return path;
    throw new UpdateTrouble(
      `the order names no repository, and this device has no list of sources (${sources.join(', ')})`,
    );
  };
  return {
    async refresh(manifestUrl) {
      await onDisk(own, () => prepare(manifestUrl));
      if (!(await isThere(keyring)))
        throw new UpdateTrouble(
          `this device has no keys of the repository (${keyring}): install dragoman-archive-keyring`,
        );
      insist(await apt('apt-get', ['-q', '-o', 'APT::Update::Error-Mode=any', 'update'], LIST_LIMIT_MS));
    },
    async find(name, version) {
      const { code, stdout } = await apt('apt-cache', ['show', `${name}=${version}`], LIST_LIMIT_MS);
      if (code !== 0) return null;
      const fields = readParagraph(stdout);
      const [bytes, unpacked] = [Number(fields.get('Size')), Number(fields.get('Installed-Size'))];
      if (fields.get('Version') !== version || !(bytes > 0)) return null;
      // Estimate for a package that does not state its unpacked size.
      return { name, version, bytes, unpackedBytes: unpacked > 0 ? unpacked * KIB : 4 * bytes };
    },
    async fetch(offer, folder, downloaded) {
      const cwd = inOwn('download');
      try {
        const archive = await onDisk(own, () => download(offer, cwd));
        await downloaded();
        const unpacked = await runProgram('dpkg-deb', ['-x', archive, join(root, folder)], {
          limitMs: UNPACK_LIMIT_MS,
        });
        insist(unpacked);
      } finally {
        await rm(cwd, { recursive: true, force: true }).catch(() => {});
      }
    },
  };

  async function download({ name, version, bytes }: Offer, cwd: string): Promise<string> {
    await rm(cwd, { recursive: true, force: true });
    await mkdir(cwd, { recursive: true });
    // apt's own user downloads, so that root reads nothing from the network.
    insist(await runProgram('chown', ['_apt', cwd], { limitMs: UNPACK_LIMIT_MS }));
    insist(await apt('apt-get', ['-q', 'download', `${name}=${version}`], DOWNLOAD_LIMIT_MS, cwd));
    insist(await runProgram('chown', ['-R', 'root', cwd], { limitMs: UNPACK_LIMIT_MS }));
    const [file] = await readdir(cwd);
    if (file === undefined) throw new UpdateTrouble('apt has downloaded nothing', true);
    const archive = join(cwd, file);
    const { stdout } = await apt('apt-cache', ['show', `${name}=${version}`], LIST_LIMIT_MS);
    const isSame = readParagraph(stdout).get('SHA256') === (await sha256(archive));
    if (!isSame || (await stat(archive)).size !== bytes)
      throw new UpdateTrouble('the downloaded package differs from the signed list of the repository', true);
    return archive;
  }
}

async function onDisk<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw troubleOf(error, path);
  }
}

function insist({ code, stdout, stderr }: ProgramResult): void {
  if (code === 0) return;
  const { message, mayPass } = explainApt(`${stderr}\n${stdout}`);
  throw new UpdateTrouble(message, mayPass);
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const part of createReadStream(path)) hash.update(part as Buffer);
  return hash.digest('hex');
}

/** apt reads this before everything else, so that no system setting counts: an image may have switched checks off. */
const configuration = (own: string, sources: string): string => `Dir::Etc::main "${own}/empty/none";
Dir::Etc::parts "${own}/empty";
Dir::Etc::sourceparts "${own}/empty";
Dir::Etc::preferences "${own}/empty/none";
Dir::Etc::preferencesparts "${own}/empty";
Dir::Etc::trusted "${own}/empty/none";
Dir::Etc::trustedparts "${own}/empty";
Dir::Etc::netrc "/etc/apt/auth.conf";
Dir::Etc::sourcelist "${sources}";
Dir::State "${own}/state";
Dir::State::lists "${own}/lists";
Dir::State::status "${own}/status";
Dir::Cache "${own}/cache";
Dir::Log "${own}/empty";
Acquire::Check-Valid-Until "true";
Acquire::Check-Date "true";
Acquire::AllowInsecureRepositories "false";
Acquire::AllowWeakRepositories "false";
Acquire::AllowDowngradeToInsecureRepositories "false";
Acquire::Languages "none";
Acquire::Retries "2";
Acquire::http::Timeout "30";
Acquire::https::Timeout "30";
`;

/** @param manifestUrl valid by the schema in src/protocol/common/update.ts, so that it cannot inject a line */
function sourceOf(manifestUrl: string, keyring: string): string {
  const [, base = '', suite = ''] = /^(.*)dists\/([^/]+)\/InRelease$/.exec(manifestUrl) ?? [];
  return `Types: deb\nURIs: ${base}\nSuites: ${suite}\nComponents: main\nSigned-By: ${keyring}\n`;
}
