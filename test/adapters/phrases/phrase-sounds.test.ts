import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeHeader } from '../../../src/adapters/audio/wav.ts';
import { openPhraseSounds, type PhraseTrust } from '../../../src/adapters/phrases/phrase-sounds.ts';
import { createSignatureReader } from '../../../src/adapters/signing/reader.ts';
import { LONGEST_PHRASE_S } from '../../../src/protocol/phrase-manifest.ts';
import { jws, makePair } from '../../device/attacker.ts';

const PREFIX = 'dragoman/v1';
const UNSIGNED: PhraseTrust = { signatures: null, prefix: PREFIX };
const owner = makePair();
const SIGNED: PhraseTrust = {
  signatures: createSignatureReader([{ kid: owner.kid, key: owner.publicKey }]),
  prefix: PREFIX,
};
const PHRASE = { language: 'es', text: 'Espere aquí.' };

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-phrases-'));
  mkdirSync(join(folder, 'es'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const wav = (pcm: Uint8Array, rateHz = 24_000, channels = 1): Buffer =>
  Buffer.concat([makeHeader({ rateHz, dataBytes: pcm.byteLength, channels }), pcm]);
const PCM = new Uint8Array(4800).map((_, at) => at % 100);

function put(bytes: Uint8Array, given: object = {}) {
  writeFileSync(join(folder, 'es/a1.wav'), bytes);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { format: 1, phrases: [{ ...PHRASE, file: 'es/a1.wav', sha256, ...given }] };
}
const list = (manifest: unknown): void =>
  writeFileSync(
    join(folder, 'manifest.json'),
    typeof manifest === 'string' ? manifest : JSON.stringify(manifest),
  );
const read = async (trust = UNSIGNED, phrase = PHRASE) =>
  (await openPhraseSounds(folder, trust)).read(phrase);

describe('the sound file of a phrase', () => {
  it('is read when it is the one that was made for this text', async () => {
    list(put(wav(PCM)));
    expect(await read()).toMatchObject({ ok: true, pcm: Buffer.from(PCM), sound: PHRASE });
  });

  it('is not used for another text or another language', async () => {
    list(put(wav(PCM)));
    for (const other of [
      { ...PHRASE, text: 'Espere' },
      { ...PHRASE, language: 'es-MX' },
    ])
      expect(await read(UNSIGNED, other)).toMatchObject({
        ok: false,
        why: expect.stringMatching(/no sound for/),
      });
  });

  it.each([
    ['is another file', () => wav(PCM), { sha256: '0'.repeat(64) }, /a1\.wav is not the file that was made/],
    ['has another rate', () => wav(PCM, 16_000), {}, /16-bit mono sound at 24000 Hz/],
    ['has two channels', () => wav(PCM, 24_000, 2), {}, /16-bit mono/],
    ['is empty', () => wav(new Uint8Array()), {}, /16-bit mono/],
    ['is no sound', () => Buffer.from('no sound at all, but long enough for a header'), {}, /a1\.wav/],
    ['is too large', () => wav(new Uint8Array((LONGEST_PHRASE_S + 1) * 48_000)), {}, /too large/],
    [
      'is absent',
      () => wav(PCM),
      { file: 'es/b2.wav' },
      /b2\.wav cannot be read: .*does not exist|b2\.wav cannot/,
    ],
    ['is outside the folder', () => wav(PCM), { file: '../es/a1.wav' }, /not a manifest/],
  ] as const)('is not played when it %s', async (_, bytes, given, why) => {
    list(put(bytes(), given));
    expect(await read()).toMatchObject({ ok: false, why: expect.stringMatching(why) });
  });

  it('is played up to the longest sound', async () => {
    list(put(wav(new Uint8Array(LONGEST_PHRASE_S * 48_000))));
    expect(await read()).toMatchObject({ ok: true });
  });

  it.each([
    ['absent', null, /manifest\.json cannot be read/],
    ['broken', '{"format":', /it is malformed/],
    ['of a later format', { format: 2, phrases: [] }, /not a manifest/],
    ['too large', ' '.repeat(1_000_001), /too large/],
  ] as const)('is not played when the manifest is %s', async (_, manifest, why) => {
    if (manifest !== null) list(manifest);
    expect(await read()).toMatchObject({ ok: false, why: expect.stringMatching(why) });
  });
});

describe('the manifest of a device that knows its owner', () => {
  const sign = (body: object, typ = 'dragoman+phrases', by = owner): void =>
    list({ jws: jws(by, { ...body, device: PREFIX, iat: 0 }, { typ }) });

  it('is accepted with the signature of the owner', async () => {
    sign(put(wav(PCM)));
    expect(await read(SIGNED)).toMatchObject({ ok: true });
    expect(await read(UNSIGNED)).toMatchObject({ ok: true });
  });

  it('is refused without a signature, with a foreign one, as another message, and for another prefix', async () => {
    const manifest = put(wav(PCM));
    list(manifest);
    expect(await read(SIGNED)).toMatchObject({ ok: false, why: expect.stringMatching(/it is not signed/) });
    sign(manifest, 'dragoman+phrases', makePair());
    expect(await read(SIGNED)).toMatchObject({ ok: false, why: expect.stringMatching(/does not hold/) });
    sign(manifest, 'dragoman+config');
    expect(await read(SIGNED)).toMatchObject({ ok: false, why: expect.stringMatching(/another kind/) });
    sign(manifest);
    expect(await read({ ...SIGNED, prefix: 'other/v1' })).toMatchObject({
      ok: false,
      why: expect.stringMatching(/another device/),
    });
  });

  it('is refused when a hash in it was changed', async () => {
    sign(put(wav(PCM)));
    const other = wav(PCM.map((sample) => sample + 1));
    writeFileSync(join(folder, 'es/a1.wav'), other);
    expect(await read(SIGNED)).toMatchObject({ ok: false, why: expect.stringMatching(/its hash differs/) });
  });
});
