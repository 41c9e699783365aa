import { createHash, createPrivateKey, createPublicKey } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runBackendProgram } from '../../../src/backend/cli.ts';
import { ownerSignatures } from '../../../src/device/config/unusable-file.ts';
import { testConfig } from '../../device/fake-deps.ts';
import { gather } from '../../gathered.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-keys-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function run(...args: string[]) {
  const { said, print, complain } = gather();
  const code = await runBackendProgram(args, {
    env: {},
    output: Object.assign(new PassThrough(), { fd: 1, isTTY: false }),
    signals: new EventEmitter(),
    print,
    complain,
  });
  return { code, ...said };
}

describe('dragoman-backend keys create', () => {
  it('refuses a name that would hide the files', async () => {
    for (const name of ['', `${folder}/`])
      expect(await run('keys', 'create', name)).toMatchObject({
        code: 2,
        err: expect.stringMatching(/cannot be the name of files: give one such as dragoman-signing/),
      });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('makes a pair that backend and device accept, and prints its thumbprint, never the key', async () => {
    const name = join(folder, 'signing');
    const { code, out } = await run('keys', 'create', name, '--json');
    expect(code).toBe(0);
    const { keys } = JSON.parse(out) as { keys: Record<string, string> };
    expect(keys).toEqual({
      kid: expect.stringMatching(/^[\w-]{43}$/),
      privateKeyFile: `${name}.key.pem`,
      publicKeyFile: `${name}.pub.pem`,
    });
    expect(statSync(`${name}.key.pem`).mode & 0o777).toBe(0o600);
    expect(statSync(`${name}.pub.pem`).mode & 0o002).toBe(0);
    const pem = readFileSync(`${name}.key.pem`, 'utf8');
    expect(pem).toMatch(/^-----BEGIN PRIVATE KEY-----/);
    const publicKey = createPublicKey(readFileSync(`${name}.pub.pem`));
    expect(createPublicKey(createPrivateKey(pem)).equals(publicKey)).toBe(true);
    const { x } = publicKey.export({ format: 'jwk' });
    const thumbprint = createHash('sha256')
      .update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`)
      .digest('base64url');
    expect(keys['kid']).toBe(thumbprint);
    expect(
      ownerSignatures(testConfig({}, { owner: { publicKeyFiles: [`${name}.pub.pem`] } })),
    ).not.toBeNull();
    const again = await run('keys', 'create', join(folder, 'next'));
    expect(again.out).toMatch(/thumbprint {3}[\w-]{43}\n/);
    expect(out + again.out).not.toContain('PRIVATE KEY');
  });

  it.each(['key.pem', 'pub.pem'])(
    'does not overwrite a %s, and leaves no incomplete pair',
    async (ending) => {
      const name = join(folder, 'signing');
      writeFileSync(`${name}.${ending}`, 'precious');
      expect(await run('keys', 'create', name)).toMatchObject({
        code: 1,
        out: '',
        err: expect.stringContaining(`signing.${ending} exists already and is not overwritten`),
      });
      expect(readFileSync(`${name}.${ending}`, 'utf8')).toBe('precious');
      expect(existsSync(`${name}.${ending === 'key.pem' ? 'pub.pem' : 'key.pem'}`)).toBe(false);
    },
  );

  it('names the file when it cannot be written', async () => {
    const { code, err } = await run('keys', 'create', join(folder, 'no', 'such'));
    expect({ code, err }).toMatchObject({
      code: 1,
      err: expect.stringMatching(/such\.key\.pem cannot be written/),
    });
  });
});
