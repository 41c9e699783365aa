import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ownerSignatures } from '../../src/device/config/unusable-file.ts';
import { makePair } from './attacker.ts';
import { testConfig } from './fake-deps.ts';

const owner = makePair();
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-owner-'));
  file('owner.pem', owner.publicPem);
});
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string, mode = 0o644): string {
  writeFileSync(join(folder, name), text);
  chmodSync(join(folder, name), mode);
  return name;
}
const load = (name: string) => (): unknown =>
  ownerSignatures(
    testConfig({}, { owner: { publicKeyFiles: ['owner.pem', name].map((each) => join(folder, each)) } }),
  );

describe("the owner's keys", () => {
  it('are null when none are configured', () => {
    expect(ownerSignatures(testConfig())).toBeNull();
    expect(load('owner.pem')()).not.toBeNull();
  });

  it('are refused with the key, the file and the fix', () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey;
    const privatePem = String(owner.privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const attempts: [attempt: () => unknown, words: RegExp][] = [
      [load('missing.pem'), /^owner\.publicKeyFiles\[1\]: the key file \S+missing\.pem does not exist/],
      [load(file('private.pem', privatePem)), /holds a private key, which belongs to the backend alone/],
      [
        load(file('rsa.pem', String(rsa.export({ type: 'spki', format: 'pem' })))),
        /a key of type rsa, not Ed25519/,
      ],
      [load(file('text.pem', 'hello')), /holds no public key in PEM.*keys create/],
      [load(file('huge.pem', 'x'.repeat(20_000))), /cannot be read: it is larger than/],
      [load(file('open.pem', owner.publicPem, 0o666)), /can be changed by everyone: chmod o-w/],
    ];
    for (const [attempt, words] of attempts) expect(attempt).toThrow(words);
  });
});
