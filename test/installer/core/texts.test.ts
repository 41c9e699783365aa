import { describe, expect, it } from 'vitest';
import { PROVISIONING_OUTCOMES, type ProvisioningResult } from '../../../src/installer/core/outcome.ts';
import { holdsSecrets, withoutSecrets } from '../../../src/installer/core/secrets.ts';
import { outcomeSentence, problemLine, statusText } from '../../../src/installer/core/status-text.ts';

describe('secrets of a document', () => {
  const full = {
    format: 1,
    wifi: { ssid: 'Museum', passphrase: 'correct horse', hidden: false },
    secrets: { 'mqtt-password': 'p4ss' },
    keyPem: 'PEM',
    config: { lanes: [] },
  } as const;

  it('are removed, and all else stays', () => {
    expect(withoutSecrets(full)).toEqual({
      format: 1,
      config: { lanes: [] },
      keyPem: null,
      wifi: { ssid: 'Museum', passphrase: null, hidden: false },
      secrets: { 'mqtt-password': null },
    });
    expect(Object.keys(withoutSecrets(full) as object)).toEqual(Object.keys(full));
  });

  it('are found at every place', () => {
    const found = { ...full, config: {} };
    expect(holdsSecrets(found)).toBe(true);
    expect(holdsSecrets({ format: 1, keyPem: 'PEM' })).toBe(true);
    expect(holdsSecrets({ format: 1, wifi: { ssid: 'a', hidden: true } })).toBe(false);
    expect(holdsSecrets({ format: 1, keyPem: null, secrets: {} })).toBe(false);
  });

  it('are not searched in values that are not documents', () => {
    expect(withoutSecrets([1])).toEqual([1]);
    expect(withoutSecrets({ wifi: 7 })).toEqual({ wifi: 7 });
  });
});

describe('the status text', () => {
  const result: ProvisioningResult = {
    format: 1,
    at: '2026-11-22T10:20:30.000Z',
    outcome: 'file_invalid',
    file: '/boot/dragoman.json',
    problems: [
      { field: 'wifi.country', message: 'must be two letters', fix: 'Write "DE".' },
      { field: '', message: 'and 2 more problems', fix: '' },
    ],
    notes: ['It is late.'],
    network: null,
    wifi: true,
  };

  it('has a line for each problem, with Windows line ends', () => {
    expect(statusText(result).split('\r\n')).toEqual([
      'Dragoman: result of dragoman.json',
      'Time:   2026-11-22 10:20:30 UTC',
      'Result: file_invalid. dragoman.json has a mistake. Nothing was changed.',
      '',
      'To fix:',
      '- wifi.country: must be two letters. Write "DE".',
      '- and 2 more problems.',
      '',
      'Notes:',
      '- It is late.',
      '',
    ]);
    expect(statusText(result).replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
  });

  it('says so while the time is unknown, and lists nothing without problems', () => {
    const text = statusText({ ...result, at: null, outcome: 'applied', problems: [], notes: [] });
    expect(text).toContain('not known: the clock is not set yet');
    expect(text).not.toMatch(/To be/);
  });

  it('has a sentence for each outcome', () => {
    expect(new Set(PROVISIONING_OUTCOMES.map(outcomeSentence)).size).toBe(PROVISIONING_OUTCOMES.length);
  });

  it('ends each problem with one full stop', () => {
    expect(problemLine({ field: 'a', message: 'is wrong?', fix: '' })).toBe('a: is wrong?');
  });
});
