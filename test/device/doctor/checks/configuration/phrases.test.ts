import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeHeader } from '../../../../../src/adapters/audio/wav.ts';
import { judgeRunningConfiguration } from '../../../../../src/device/doctor/checks/configuration/configuration-check.ts';
import type { MachineParts } from '../../../../../src/ports/machine.ts';
import { testConfig } from '../../../fake-deps.ts';

const MACHINE = { env: {} } as MachineParts;
const LIST = [{ en: 'Out of order.', es: 'No funciona.' }, { en: 'Please wait.' }];

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-silent-phrases-'));
  mkdirSync(join(folder, 'en'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function put(texts: readonly [language: string, text: string][]): void {
  const wav = Buffer.concat([makeHeader({ rateHz: 24_000, dataBytes: 480 }), new Uint8Array(480)]);
  writeFileSync(join(folder, 'en/a.wav'), wav);
  const sha256 = createHash('sha256').update(wav).digest('hex');
  const phrases = texts.map(([language, text]) => ({ language, text, file: 'en/a.wav', sha256 }));
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ format: 1, phrases }));
}
const judged = async (phrases: object | null, more: object = {}) => {
  const { verdict, finding, fix } = await judgeRunningConfiguration(
    testConfig({}, { phrases, ...more }),
    MACHINE,
  );
  return `${verdict}: ${finding} ${fix ?? ''}`;
};
const SILENT = /phrases are shown|phrases that are shown, but not spoken/;

describe('the doctor, of the phrases of the house', () => {
  it('says nothing when every text has its sound, when there is no folder, or no phrase', async () => {
    put([
      ['en', 'Out of order.'],
      ['es', 'No funciona.'],
      ['en', 'Please wait.'],
    ]);
    for (const phrases of [{ folder, list: LIST }, { list: LIST }, null])
      expect(await judged(phrases)).not.toMatch(SILENT);
  });

  it('warns once of texts without a sound, names the first one and the fix', async () => {
    put([['en', 'Please wait.']]);
    const report = await judged({ folder, list: LIST });
    expect(report).toMatch(/^warning: .*phrases\.folder leaves phrases that are shown, but not spoken/);
    expect(report).toMatch(/no sound for this text in "en" \(and 1 more problem\)/);
    expect(report).toMatch(/dragoman-backend phrases make/);
  });

  it('warns of a folder without a manifest, once for all texts', async () => {
    const report = await judged({ folder, list: LIST });
    expect(report).toMatch(/manifest\.json cannot be read/);
    expect(report).not.toMatch(/more problem/);
  });

  it('warns of a damaged sound file', async () => {
    put([['en', 'Please wait.']]);
    writeFileSync(join(folder, 'en/a.wav'), 'damaged');
    expect(await judged({ folder, list: LIST.slice(1) })).toMatch(/a\.wav is not the file that was made/);
  });
});
