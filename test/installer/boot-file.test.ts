/** The file as PCs leave it on the card: wrong names, other encodings, incomplete writes. */
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystem, FULL, type System } from './system-folder.ts';

let system: System;
beforeEach(() => {
  system = createSystem();
});
afterEach(() => system.remove());

const refused = () => {
  const before = system.everything();
  const { result } = system.run();
  expect(result.outcome).toBe('file_unreadable');
  expect(system.everything()).toEqual(before);
  return result.problems[0];
};

describe('dragoman.json on the card', () => {
  it.each(['Dragoman.json', 'DRAGOMAN.JSON', 'dragoman.Json'])(
    'is reported under the name %s when capital letters count',
    (name) => {
      system.write(name, FULL);
      const problem = refused();
      expect(problem?.message).toContain(JSON.stringify(name));
      expect(problem?.fix).toBe('Rename it to dragoman.json. File names are case-sensitive on this disk.');
      expect(system.read('dragoman-status.txt')).toContain(`"${name}" does. Rename it to dragoman.json.`);
    },
  );

  it('is reported when another file beside it differs only in capital letters', () => {
    system.write('dragoman.json', FULL);
    system.write('Dragoman.json', 'old');
    expect(system.run().result.notes.join()).toContain('"Dragoman.json" is beside dragoman.json');
  });

  it('is one file when the disk finds it by both names', () => {
    system.write('dragoman.json', FULL);
    linkSync(join(system.boot, 'dragoman.json'), join(system.boot, 'DRAGOMAN.JSON'));
    const { outcome, notes } = system.run({ isDry: true }).result;
    expect([outcome, notes.join()]).toEqual(['applied', expect.not.stringContaining('is beside')]);
  });

  it.each([
    ['UTF-16 without its mark', (text: string) => Buffer.from(text, 'utf16le')],
    ['UTF-16, big-endian, without its mark', (text: string) => Buffer.from(text, 'utf16le').swap16()],
  ])('is read from %s', (_, edit) => {
    system.write('dragoman.json', edit(JSON.stringify(FULL)));
    expect(system.run().result).toMatchObject({ outcome: 'applied', problems: [] });
    expect(readFileSync(join(system.boot, 'dragoman.json')).includes('\0')).toBe(false);
  });

  it.each([
    ['nothing', Buffer.alloc(0), 'is empty'],
    ['blanks', Buffer.from(' \r\n\t'), 'is empty'],
    ['zeros, as on a card that was removed too early', Buffer.alloc(4096), 'holds nothing but zeros'],
    [
      'zeros after its end',
      Buffer.from(`${JSON.stringify(FULL)}${'\0'.repeat(3000)}`),
      'holds zeros in place of text',
    ],
    [
      'zeros within',
      Buffer.from(JSON.stringify(FULL).replace('Museum', '\0'.repeat(512))),
      'holds zeros in place of text',
    ],
  ])('is reported as incomplete when it holds %s', (_, content, message) => {
    system.write('dragoman.json', content);
    expect(refused()).toMatchObject({
      message: `dragoman.json ${message}`,
      fix: expect.stringContaining('eject the card'),
    });
  });

  it.each([
    ['half a letter of UTF-16', Buffer.from(`\uFEFF{"format":1}x`, 'utf16le').subarray(0, -1)],
    ['letters of Windows', Buffer.from('{"wifi":{"ssid":"M\xfcseum"}}', 'latin1')],
  ])('is reported with a fix when it has %s', (_, content) => {
    system.write('dragoman.json', content);
    expect(refused()).toMatchObject({
      message: expect.stringContaining('another encoding than UTF-8'),
      fix: expect.stringContaining('Notepad'),
    });
  });

  it('causes no problem when it was removed again', () => {
    writeFileSync(join(system.boot, 'dragoman.json'), '');
    rmSync(join(system.boot, 'dragoman.json'));
    expect(system.run().result.outcome).toBe('no_file');
  });
});
