import { isAbsolute, join } from 'node:path';
import { unseenCharacters } from '../../protocol/common/plain-text.ts';
import { UnreadableFile } from './read-file.ts';
import { readTextFile, unreadableReason } from './text-file.ts';

export type SecretResult =
  | {
      ok: true;
      secret: string;
      /** Names invisible characters in the secret, such as "ends with a blank"; absent when there are none. */
      unseen?: string;
    }
  | { ok: false; message: string };

const READABLE_BY_OTHERS = 0o004;
const LARGEST_SECRET_BYTES = 64_000;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads a secret from a file. A name without a folder is looked up in systemd's credentials directory first
 * (`LoadCredential=mqtt-password:...` and `"passwordFile": "mqtt-password"`).
 * Messages name the file, never its content. A byte order mark and one newline at the end are not part of the secret.
 */
export function readSecret(file: string, env: Environment): SecretResult {
  const directory = env['CREDENTIALS_DIRECTORY'];
  const isBareName = !isAbsolute(file) && !file.includes('/');
  if (isBareName && directory !== undefined) {
    const credential = readSecretFile(join(directory, file));
    if (credential !== null) return credential;
  }
  return readSecretFile(file) ?? { ok: false, message: `the secret file ${file} does not exist` };
}

/** A password: one line. A second line, a tab or a NUL is a mistake that would otherwise show up only later. */
export function readPassword(file: string, env: Environment): SecretResult {
  const forbidden = /\p{Cc}/u;
  return readChecked(file, env, forbidden, 'more than one line, or a control character');
}

/** A key for an HTTP header: one word of printable ASCII. */
export function readKey(file: string, env: Environment): SecretResult {
  const found = /[^\x21-\x7e]/;
  const read = readChecked(
    file,
    env,
    found,
    'more than one line, or a character that is not allowed in a key (a blank, a control character)',
  );
  const unseen = read.ok ? null : unseenIn(file, env);
  return unseen === null || read.ok ? read : { ok: false, message: `${read.message}; it ${unseen}` };
}

function unseenIn(file: string, env: Environment): string | null {
  const read = readSecret(file, env);
  return read.ok ? (read.unseen ?? null) : null;
}

function readChecked(file: string, env: Environment, wrong: RegExp, what: string): SecretResult {
  const read = readSecret(file, env);
  if (!read.ok || !wrong.test(read.secret)) return read;
  return {
    ok: false,
    message: `the secret file ${file} holds ${what}: it must hold the secret and nothing else`,
  };
}

/** Null when there is no such file. */
function readSecretFile(file: string): SecretResult | null {
  try {
    const { text: secret, mode } = readTextFile(file, LARGEST_SECRET_BYTES);
    if ((mode & READABLE_BY_OTHERS) !== 0) {
      return { ok: false, message: `the secret file ${file} is readable by everyone: chmod o-rwx ${file}` };
    }
    if (secret === '') return { ok: false, message: `the secret file ${file} is empty` };
    // Blanks around the blocks of a PEM file have no meaning.
    const unseen = secret.includes('-----BEGIN ') ? null : unseenCharacters(secret);
    return { ok: true, secret, ...(unseen !== null && { unseen }) };
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    if (error.code === 'ENOENT') return null;
    return { ok: false, message: `the secret file ${file} cannot be read${unreadableReason(error)}` };
  }
}
