/** Configuration files that an editor has saved in another encoding than UTF-8. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { formatProblem } from '../../../src/adapters/config/layer.ts';
import { loadConfig } from '../../../src/adapters/config/load.ts';

const TEXT = `// Wer übersetzt, hört zu.
{
  "device": { "id": "kiosk-01", "tenant": "museum", "label": "Foyer, Süd" },
  "mqtt": { "url": "mqtts://broker.example" },
  "lanes": [{ "source": "en", "targets": ["es"] }]
}`;
const ASCII = TEXT.replaceAll('ü', 'ue').replaceAll('ö', 'oe');
const SAVE = 'Save it again as UTF-8: in Notepad, "Save as" has "Encoding" at its bottom.';

const little = (text: string): Buffer => Buffer.from(text, 'utf16le');
const big = (text: string): Buffer => little(text).swap16();

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-encoding-'));
  mkdirSync(join(folder, 'conf.d'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function problems(content: Buffer, addition?: Buffer): string[] {
  writeFileSync(join(folder, 'config.json'), content);
  if (addition !== undefined) writeFileSync(join(folder, 'conf.d', 'a.json'), addition);
  const result = loadConfig({ file: join(folder, 'config.json'), env: {} });
  return result.ok
    ? []
    : result.problems.map((problem) => formatProblem(problem).replaceAll(`${folder}/`, ''));
}

describe('a configuration in another encoding than UTF-8', () => {
  it.each([
    ['with its mark', little(`\uFEFF${TEXT}`)],
    ['big-endian, with its mark', big(`\uFEFF${TEXT}`)],
    ['without a mark', little(ASCII)],
    ['big-endian, without a mark', big(ASCII)],
  ])('is refused in UTF-16 %s', (_, bytes) => {
    expect(problems(bytes)).toEqual([`config.json: cannot be read: it is UTF-16. ${SAVE}`]);
    expect(problems(Buffer.from(TEXT), bytes)).toEqual([
      `conf.d/a.json: cannot be read: it is UTF-16. ${SAVE}`,
    ]);
  });

  it('is refused in Latin-1, with the first line that has such a letter', () => {
    const words = `holds letters in another encoding than UTF-8. ${SAVE}`;
    expect(problems(Buffer.from(TEXT, 'latin1'))).toEqual([
      `config.json: cannot be read: its line 1 ${words}`,
    ]);
    const later = Buffer.from(TEXT.replace(/^.*\n/, '// one\r\n// two\r\n'), 'latin1');
    expect(problems(later)).toEqual([`config.json: cannot be read: its line 4 ${words}`]);
    const addition = Buffer.from('{"device":{"label":"Süd"}}', 'latin1');
    expect(problems(Buffer.from(TEXT), addition)).toEqual([
      `conf.d/a.json: cannot be read: its line 1 ${words}`,
    ]);
  });

  it('is refused when a letter is cut off at the end', () => {
    expect(problems(Buffer.concat([Buffer.from(`${TEXT}\n// `), Buffer.from('ü').subarray(0, 1)]))).toEqual([
      expect.stringContaining('its line 7 holds letters'),
    ]);
  });
});

it('a configuration in UTF-8 is read with and without a byte order mark, with any letters', () => {
  expect(problems(Buffer.from(TEXT))).toEqual([]);
  expect(problems(Buffer.from(`\uFEFF${TEXT}`))).toEqual([]);
  expect(problems(Buffer.from(TEXT.replace('Süd', '入口 \u{1F3DB} \uFFFD')))).toEqual([]);
});
