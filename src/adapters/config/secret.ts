import { readFileSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';

export type SecretResult = { ok: true; secret: string } | { ok: false; message: string };

const READABLE_BY_OTHERS = 0o004;
const LARGEST_SECRET_BYTES = 64 * 1024;

/**
 * Reads a secret from a file. A name without a folder is looked for in systemd's credentials directory first
 * (`LoadCredential=mqtt-password:...` and `"passwordFile": "mqtt-password"`).
 * Messages name the file, never what it holds. One newline at the end is no part of the secret.
 */
export function readSecret(file: string, env: Readonly<Record<string, string | undefined>>): SecretResult {
  const directory = env['CREDENTIALS_DIRECTORY'];
  const isBareName = !isAbsolute(file) && !file.includes('/');
  if (isBareName && directory !== undefined) {
    const credential = readSecretFile(join(directory, file));
    if (credential !== null) return credential;
  }
  return readSecretFile(file) ?? { ok: false, message: `the secret file ${file} does not exist` };
}

/** Null when there is no such file. */
function readSecretFile(file: string): SecretResult | null {
  try {
    const { mode, size } = statSync(file);
    if ((mode & READABLE_BY_OTHERS) !== 0) {
      return { ok: false, message: `the secret file ${file} is readable by everyone: chmod o-rwx ${file}` };
    }
    if (size > LARGEST_SECRET_BYTES) return { ok: false, message: `the secret file ${file} is too large` };
    const secret = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
    return secret === '' ? { ok: false, message: `the secret file ${file} is empty` } : { ok: true, secret };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : 'unknown reason';
    return code === 'ENOENT'
      ? null
      : { ok: false, message: `the secret file ${file} can not be read (${code})` };
  }
}
