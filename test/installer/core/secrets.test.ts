import { describe, expect, it } from 'vitest';
import { secretTexts } from '../../../src/installer/core/secrets.ts';

describe('texts of a file that must be hidden', () => {
  it('are its secrets that are long enough', () => {
    const file = {
      wifi: { ssid: 'Museum', passphrase: 'correct horse' },
      secrets: { 'mqtt-password': 'p4ssw0rd' },
      keyPem: 'a key',
    };
    expect(secretTexts(file)).toEqual(['correct horse', 'p4ssw0rd', 'a key']);
    expect(secretTexts({ ...file, secrets: { 'mqtt-password': 'four' }, keyPem: null })).toEqual([
      'correct horse',
    ]);
  });

  it.each([[null], [7], ['text'], [[]], [{ wifi: 'Museum', secrets: [1], keyPem: {} }]])(
    'are none in a value that is not a document: %j',
    (value) => expect(secretTexts(value)).toEqual([]),
  );
});
