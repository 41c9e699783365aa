import { pbkdf2Sync, randomBytes } from 'node:crypto';
import type { PasswordHash } from './setup.ts';

/** Iterations of PBKDF2, as in mosquitto_passwd. Passwords of 192 random bits need no more. */
const ITERATIONS = 101;
const SALT_BYTES = 12;
const HASH_BYTES = 64;

/** Creates a password and the hash that the broker stores. */
export function createPassword(): { password: string; hash: PasswordHash } {
  const password = randomBytes(24).toString('base64url');
  const salt = randomBytes(SALT_BYTES);
  const hash = pbkdf2Sync(password, salt, ITERATIONS, HASH_BYTES, 'sha512');
  return {
    password,
    hash: { iterations: ITERATIONS, salt: salt.toString('base64'), hash: hash.toString('base64') },
  };
}
