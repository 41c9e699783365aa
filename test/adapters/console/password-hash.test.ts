import { scryptSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Busy, createPasswordHasher } from '../../../src/adapters/console/password-hash.ts';

/** As the program writes it, with a cost that takes no time. */
function cheapHash(password: string): string {
  const salt = Buffer.alloc(16, 7);
  const key = scryptSync(password, salt, 32, { N: 16, r: 1, p: 1 });
  return ['scrypt', 16, 1, 1, salt.toString('base64url'), key.toString('base64url')].join('$');
}

describe('the hash of a password', () => {
  it('has the full cost and a salt of its own, and fits its password in both spellings of a letter', async () => {
    const hasher = createPasswordHasher();
    const [one, other] = [await hasher.hash('Grüße an den Kiosk'), await hasher.hash('Grüße an den Kiosk')];
    for (const hash of [one, other]) expect(hash).toMatch(/^scrypt\$32768\$8\$1\$[\w-]{22}\$[\w-]{43}$/);
    const saltOf = (hash: string) => hash.split('$')[4];
    expect(saltOf(one)).not.toBe(saltOf(other));
    expect(await hasher.check('Gru\u0308ße an den Kiosk', one)).toBe(true);
    expect(await hasher.check('Grusse an den Kiosk', one)).toBe(false);
  });

  it.each([
    '',
    'secret',
    'scrypt$16$1$1$c2FsdA',
    'scrypt$16$1$1$c2FsdA$c2hvcnQ',
    'plain$16$1$1$c2FsdA$c2hvcnQ',
  ])('that is damaged fits no password: "%s"', async (hash) => {
    expect(await createPasswordHasher().check('secret', hash)).toBe(false);
  });
});

describe('a check', () => {
  it('has twenty before it at most, and the next one finds room when they are done', async () => {
    const hasher = createPasswordHasher();
    const hash = cheapHash('secret');
    const twenty = Array.from({ length: 20 }, () => hasher.check('secret', hash));
    await expect(hasher.check('secret', hash)).rejects.toThrow(Busy);
    await expect(hasher.hash('secret')).rejects.toThrow(Busy);
    expect((await Promise.all(twenty)).every(Boolean)).toBe(true);
    expect(await hasher.check('secret', hash)).toBe(true);
  });

  it('of an unknown name waits for its turn as that of a person does', async () => {
    const hasher = createPasswordHasher();
    const hash = cheapHash('secret');
    const twenty = Array.from({ length: 20 }, () => hasher.check('secret', hash));
    await expect(hasher.check('secret', null)).rejects.toThrow(Busy);
    await Promise.all(twenty);
  });
});
