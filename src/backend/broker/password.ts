import { pbkdf2Sync, randomBytes } from 'node:crypto';
import type { PasswordHash } from '../core/broker/setup.ts';

/** As mosquitto_passwd has it. The passwords hold 192 random bits: no number of iterations adds anything to that. */
const ITERATIONS = 101;
const SALT_BYTES = 12;
const HASH_BYTES = 64;

/** A new password, and what the broker keeps of it. */
export function createPassword(): { password: string; hash: PasswordHash } {
  const password = randomBytes(24).toString('base64url');
  const salt = randomBytes(SALT_BYTES);
  const hash = pbkdf2Sync(password, salt, ITERATIONS, HASH_BYTES, 'sha512');
  return {
    password,
    hash: { iterations: ITERATIONS, salt: salt.toString('base64'), hash: hash.toString('base64') },
  };
}
