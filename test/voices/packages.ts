/** Recordings of people and music from Debian packages, fetched on demand and kept in the user's cache. */
import { execFile } from 'node:child_process';
import { access, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const FETCH_LIMIT_MS = 240_000;

const PACKAGES = [
  ...['en', 'es', 'fr', 'it', 'ru'].map((language) => `asterisk-core-sounds-${language}-g722`),
  'asterisk-moh-opsound-g722',
  'asterisk-prompt-es-co',
  'asterisk-prompt-fr-armelle',
  'asterisk-prompt-it-menardi-wav',
] as const;

/** The folder of the recordings, or the reason why there are none. */
export type Fetched = { readonly folder: string } | { readonly missing: string };

function cacheFolder(): string {
  return join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'dragoman');
}

/** Fetches and unpacks missing recordings. It installs nothing and needs no root. */
export async function fetchRecordings(): Promise<Fetched> {
  try {
    await run('sox', ['--version']);
  } catch {
    return { missing: 'sox is not installed; it is needed to decode some recordings' };
  }
  const cache = cacheFolder();
  const folder = join(cache, 'recordings');
  try {
    await access(folder);
    return { folder: join(folder, 'usr/share/asterisk') };
  } catch {
    // The folder does not exist before the first run.
  }
  const fresh = `${folder}.${process.pid}`;
  try {
    const downloads = join(fresh, 'downloads');
    await mkdir(downloads, { recursive: true });
    await run('apt-get', ['download', '-q', ...PACKAGES], { cwd: downloads, timeout: FETCH_LIMIT_MS });
    for (const archive of await readdir(downloads))
      await run('dpkg', ['-x', join(downloads, archive), fresh]);
    await rm(downloads, { recursive: true });
    await rename(fresh, folder).catch(ignoreIfThere(folder));
    return { folder: join(folder, 'usr/share/asterisk') };
  } catch (error) {
    return { missing: `the recordings could not be fetched with apt-get: ${firstLine(error)}` };
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

/** Ignores an error if the folder exists: of two parallel runs, the first one wins. */
function ignoreIfThere(folder: string): (error: unknown) => Promise<void> {
  return async (error) => {
    try {
      await access(folder);
    } catch {
      throw error;
    }
  };
}

function firstLine(error: unknown): string {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
  const lines = [...said.split('\n'), error instanceof Error ? error.message : 'unknown error'];
  return (lines.find((line) => line.startsWith('E:')) ?? lines.find((line) => line !== '') ?? '').slice(
    0,
    200,
  );
}
