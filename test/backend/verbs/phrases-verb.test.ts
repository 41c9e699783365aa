import { EventEmitter } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openPhraseSounds } from '../../../src/adapters/phrases/phrase-sounds.ts';
import { createSignatureReader } from '../../../src/adapters/signing/reader.ts';
import { createKeyPair, readPublicKey } from '../../../src/adapters/signing/signing-keys.ts';
import { runBackendProgram } from '../../../src/backend/cli.ts';
import { createServiceClient } from '../../../src/backend/service/service-client.ts';
import { type Emulator, startEmulator } from '../../../src/emulator/server.ts';
import { gather } from '../../gathered.ts';

const KEY = 'phrases-api-key-0815';
const LIST = [
  { en: 'The interpreter is out of order. A member of staff will come.', es: 'El intérprete no funciona.' },
  { en: 'Please wait here.', es: 'Espere aquí, por favor.' },
];
const PREFIX = 'dragoman/v1';

let folder: string;
let emulator: Emulator;
const at = (name: string): string => join(folder, name);
function write(name: string, content: string): string {
  writeFileSync(at(name), content);
  chmodSync(at(name), 0o600);
  return at(name);
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-phrases-verb-'));
  emulator = await startEmulator({ apiKeys: [KEY], profile: 'live', setupMs: 100 });
});
afterEach(async () => {
  await emulator.close();
  rmSync(folder, { recursive: true, force: true });
});

function configFile(more: object = {}): string {
  const service = {
    url: emulator.url,
    streamUrl: `${emulator.wsUrl}/streaming-api/{random_hash}/v1/speech-to-speech/stream`,
    apiKeyFile: write('key', KEY),
  };
  const config = { mqtt: { url: 'mqtt://127.0.0.1:1' }, service, allow: ['museum/*'], ...more };
  return write('c.json', JSON.stringify(config));
}

async function make(phrases: unknown, more: object = {}, ...args: string[]) {
  const { said, print, complain } = gather();
  const output = Object.assign(new PassThrough(), { fd: 1, isTTY: false });
  const kiosk = write('kiosk.json', typeof phrases === 'string' ? phrases : JSON.stringify({ phrases }));
  const verb = ['phrases', 'make', '--config', configFile(more), '--phrases', kiosk, '--out', at('out')];
  const given = { env: {}, output, signals: new EventEmitter(), print, complain };
  const code = await runBackendProgram([...verb, ...args], given);
  expect(said.out + said.err).not.toContain(KEY);
  return { code, ...said };
}
const UNSIGNED = { signatures: null, prefix: PREFIX };
const readAll = async (list: readonly object[], trust: Parameters<typeof openPhraseSounds>[1] = UNSIGNED) => {
  const sounds = await openPhraseSounds(at('out'), trust);
  const texts = list.flatMap((phrase) =>
    Object.entries(phrase).map(([language, text]) => ({ language, text: String(text) })),
  );
  return Promise.all(texts.map((text) => sounds.read(text)));
};

describe('phrases make', () => {
  it('has each text spoken once, in files that the device plays, and ends its sessions', async () => {
    const { code, out } = await make({ list: LIST }, {}, '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({ phrases: { folder: at('out'), made: 4, kept: 0, left_out: [] } });
    const sounds = await readAll(LIST);
    const lengths = sounds.map((sound) => (sound.ok ? sound.pcm.byteLength : 0));
    expect(Math.min(...lengths)).toBeGreaterThan(48 * 200);
    // Each file has its own text: a longer one takes longer.
    expect(lengths[0]).toBeGreaterThan(lengths[2] ?? 0);
    expect(sounds.map((sound) => sound.ok && sound.pcm.some((byte) => byte !== 0))).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(readdirSync(at('out')).toSorted()).toEqual(['en', 'es', 'manifest.json']);
    expect(readdirSync(at('out/en')).every((name) => name.endsWith('.wav'))).toBe(true);
    const client = createServiceClient({ url: emulator.url, timeoutMs: 5000, apiKey: () => KEY });
    expect(await client.listSessions({ clientReferenceId: 'dragoman-phrases' })).toEqual([]);
    client.close();
  });

  it('makes only what is missing, or damaged, when it runs again', async () => {
    await make({ list: LIST.slice(0, 1) });
    const manifest = JSON.parse(readFileSync(at('out/manifest.json'), 'utf8'));
    const [first, second] = manifest.phrases.map(({ file }: { file: string }) => at(join('out', file)));
    writeFileSync(first, 'damaged');
    const before = statSync(second).mtimeMs;
    const { code, out } = await make({ list: LIST }, {}, '--json');
    expect([code, JSON.parse(out).phrases]).toMatchObject([0, { made: 3, kept: 1 }]);
    expect(statSync(second).mtimeMs).toBe(before);
    expect((await readAll(LIST)).map(({ ok }) => ok)).toEqual([true, true, true, true]);
    const again = await make({ list: LIST }, {}, '--json');
    expect(JSON.parse(again.out).phrases).toMatchObject({ made: 0, kept: 4 });
  });

  it('signs the manifest when the backend has a key, for the prefix of its topics', async () => {
    const { privatePem, publicPem } = createKeyPair();
    const key = readPublicKey(write('owner.pub.pem', publicPem));
    const signingKeyFile = write('owner.key.pem', privatePem);
    const list = [{ en: 'Please wait here.' }];
    const { code, err } = await make({ list }, { signingKeyFile });
    expect([code, err]).toEqual([0, '']);
    const trust = { signatures: createSignatureReader([key]), prefix: PREFIX };
    expect(await readAll(list, trust)).toMatchObject([{ ok: true }]);
    expect(await readAll(list, { ...trust, prefix: 'other/v1' })).toMatchObject([{ ok: false }]);
  });

  it('signs no sound that it has not signed before', async () => {
    const { privatePem } = createKeyPair();
    const signingKeyFile = write('owner.key.pem', privatePem);
    const list = [{ en: 'Yes.' }, { en: 'No.' }];
    await make({ list }, { signingKeyFile });
    const { phrases } = JSON.parse(
      Buffer.from(
        JSON.parse(readFileSync(at('out/manifest.json'), 'utf8')).jws.split('.')[1],
        'base64url',
      ).toString(),
    );
    // Someone else says "no" under "yes", in a manifest without a signature.
    const [yes, no] = phrases;
    const changed = { format: 1, phrases: [{ ...yes, file: no.file, sha256: no.sha256 }, no] };
    writeFileSync(at('out/manifest.json'), JSON.stringify(changed));
    const { out } = await make({ list }, { signingKeyFile }, '--json');
    expect(JSON.parse(out).phrases).toMatchObject({ made: 2, kept: 0 });
    writeFileSync(at('out/manifest.json'), JSON.stringify(changed));
    // Without a key, a file that is not that of its text is made again.
    const unsigned = await make({ list }, {}, '--json');
    expect(JSON.parse(unsigned.out).phrases).toMatchObject({ made: 1, kept: 1 });
  });

  it('takes the phrases from a dragoman.json, and names languages that the service does not speak', async () => {
    const text = `// for the cards
      {"config": {"phrases": {"list": [{"en": "Yes.", "cy": "Ie."}]}}}`;
    const { code, out, err } = await make(text, {}, '--json');
    expect([code, JSON.parse(out).phrases]).toMatchObject([0, { made: 1, left_out: ['cy'] }]);
    expect(err).toMatch(/does not speak cy: these texts are only shown/);
  });

  it.each([
    [
      { list: [{ en: '' }] },
      /kiosk\.json: the phrases cannot be used:\n {2}phrases\.list\[0\]\.en must not be empty/,
    ],
    [null, /kiosk\.json has no phrases/],
    ['{"phrases": ', /kiosk\.json:1:1[0-9]: /],
  ])('names the fault of %j', async (phrases, message) => {
    const { code, err } = await make(phrases);
    expect([code, err]).toEqual([2, expect.stringMatching(message)]);
    expect(readdirSync(folder)).not.toContain('out');
  });

  it('says so when the service does not speak texts', async () => {
    await emulator.close();
    emulator = await startEmulator({ apiKeys: [KEY], profile: 'spec', setupMs: 100 });
    const { code, err } = await make({ list: [{ en: 'Yes.' }] });
    expect(code).toBe(1);
    expect(err).toMatch(/the phrases in "en" were not spoken: the service does not speak texts/);
  });
});
