/** Hashes of people's passwords: scrypt, one at a time, so that many logins at once do not use up the memory and all cores. */
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';

/** Each hash takes 32 MB and about 80 ms. */
const COST = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 } as const;
const KEY_BYTES = 32;
const SALT_BYTES = 16;
/** Maximum number of passwords that wait to be checked: 2 s of work. */
const MOST_WAITING = 20;

/** Too many passwords are being checked. */
export class Busy extends Error {}

export interface PasswordHasher {
  hash(password: string): Promise<string>;
  /**
   * Takes the same time for a person who does not exist (`hash` is null).
   * @throws Busy
   */
  check(password: string, hash: string | null): Promise<boolean>;
}

export function createPasswordHasher(): PasswordHasher {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  const derive = async (password: string, salt: Buffer, cost: ScryptOptions): Promise<Buffer> => {
    if (waiting >= MOST_WAITING) throw new Busy('too many people sign in at once: wait a moment');
    waiting += 1;
    // Keyboards and systems encode letters such as "ä" in two ways.
    const work = last.then(() => run(password.normalize('NFC'), salt, cost));
    last = work.catch(() => {});
    try {
      return await work;
    } finally {
      waiting -= 1;
    }
  };
  return {
    async hash(password) {
      const salt = randomBytes(SALT_BYTES);
      const key = await derive(password, salt, COST);
      return ['scrypt', COST.N, COST.r, COST.p, salt.toString('base64url'), key.toString('base64url')].join(
        '$',
      );
    },
    async check(password, hash) {
      const { salt, key, cost } = parse(hash) ?? { salt: Buffer.alloc(SALT_BYTES), key: null, cost: COST };
      const derived = await derive(password, salt, cost);
      return key !== null && key.byteLength === derived.byteLength && timingSafeEqual(key, derived);
    },
  };
}

function parse(hash: string | null): { salt: Buffer; key: Buffer; cost: ScryptOptions } | null {
  const [kind, N, r, p, salt, key] = (hash ?? '').split('$');
  if (kind !== 'scrypt' || salt === undefined || key === undefined) return null;
  const cost = { N: Number(N), r: Number(r), p: Number(p), maxmem: COST.maxmem };
  return { salt: Buffer.from(salt, 'base64url'), key: Buffer.from(key, 'base64url'), cost };
}

function run(password: string, salt: Buffer, cost: ScryptOptions): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password, salt, KEY_BYTES, cost, (error, key) => (error === null ? resolve(key) : reject(error)));
  });
}
