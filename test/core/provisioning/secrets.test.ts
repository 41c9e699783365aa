import { describe, expect, it } from 'vitest';
import { secretTexts } from '../../../src/core/provisioning/secrets.ts';

describe('what must not be told of a file', () => {
  it('is each of its secrets that is long enough to be one', () => {
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
    'is nothing where the file is something else: %j',
    (value) => expect(secretTexts(value)).toEqual([]),
  );
});
