import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withoutSecrets } from '../../src/installer/core/secrets.ts';
import { takeSecretsOut } from '../../src/installer/remove-secrets.ts';
import { createSystem, FULL, type System } from './system-folder.ts';

let system: System;
beforeEach(() => {
  system = createSystem();
});
afterEach(() => system.remove());

const cleaned = (): string => JSON.stringify(withoutSecrets(FULL));
const text = JSON.stringify(FULL);

/** The states after a power cut, at one moment after the other: the file, and the text without secrets beside it. */
const MOMENTS: [name: string, file: string, beside: string | null][] = [
  ['before anything', text, null],
  ['while the text beside is written', text, cleaned().slice(0, 40)],
  ['before the file is overwritten', text, cleaned()],
  ['in the middle of overwriting', '\0'.repeat(40) + text.slice(40), cleaned()],
  ['while the end is overwritten', text.slice(0, 100) + '\0'.repeat(text.length - 100), cleaned()],
  ['after overwriting', '\0'.repeat(text.length), cleaned()],
  ['after all', cleaned(), null],
];

describe('a power cut while secrets are removed', () => {
  it.each(MOMENTS)(
    '%s: after the next boot all is in place, with no secret on the card',
    (_, file, beside) => {
      // All files were in place before.
      system.write('dragoman.json', FULL);
      system.run();
      system.write('dragoman.json', file);
      if (beside !== null) system.write('DRAGOMAN.NEW', beside);
      expect(system.run().result).toMatchObject({ outcome: 'unchanged', problems: [] });
      expect(JSON.parse(system.read())).toEqual(withoutSecrets(FULL));
      expect(() => system.read('DRAGOMAN.NEW')).toThrow('ENOENT');
    },
  );

  it('keeps a file that was written meanwhile', () => {
    system.write('dragoman.json', Buffer.from(`\uFEFF{ "format": 1 `, 'utf16le'));
    system.write('DRAGOMAN.NEW', cleaned());
    expect(system.run().result.outcome).toBe('file_invalid');
    expect(system.read()).toContain('f\0o\0r\0m\0a\0t');
  });

  it('reports damage that cannot be repaired', () => {
    system.write('dragoman.json', '\0'.repeat(200));
    system.write('DRAGOMAN.NEW', '{');
    expect(system.run().result).toMatchObject({
      outcome: 'file_unreadable',
      problems: [{ message: 'dragoman.json holds nothing but zeros' }],
    });
  });
});

it('reports why secrets cannot be removed', () => {
  expect(takeSecretsOut(join(system.boot, 'elsewhere'), FULL)).toBe('there is no such file or folder');
  writeFileSync(join(system.boot, 'file'), '');
  expect(takeSecretsOut(join(system.boot, 'file'), FULL)).toBe('a part of its path is a file, not a folder');
});
