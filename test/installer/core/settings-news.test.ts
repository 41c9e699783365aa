import { describe, expect, it } from 'vitest';
import { PROVISIONING_OUTCOMES, type ProvisioningResult } from '../../../src/installer/core/outcome.ts';
import { PHRASES } from '../../../src/installer/core/phrases.ts';
import { settingsNews } from '../../../src/installer/core/settings-news.ts';

const result = (outcome: ProvisioningResult['outcome'], problems: ProvisioningResult['problems'] = []) =>
  ({
    format: 1,
    at: null,
    outcome,
    file: '/boot/firmware/dragoman.json',
    problems,
    notes: [],
    network: null,
    wifi: false,
  }) satisfies ProvisioningResult;

describe('the result of the settings', () => {
  it('is announced by a phrase of the same name, except without changes', () => {
    for (const outcome of PROVISIONING_OUTCOMES) {
      const { code, isBad, isMissing } = settingsNews(result(outcome));
      const isQuiet = outcome === 'no_file' || outcome === 'unchanged';
      expect([outcome, code]).toEqual([outcome, isQuiet ? null : outcome]);
      expect(isMissing).toBe(outcome === 'no_file');
      if (code !== null) expect(isBad).toBe(PHRASES[code].news === 'bad');
    }
  });

  it('contains the first problems as its detail', () => {
    const problem = { field: 'wifi.passphrase', message: 'must have 8 characters', fix: 'Give it more.' };
    const whole = { field: '', message: 'dragoman.json is empty', fix: '' };
    expect(settingsNews(result('file_invalid', [problem, whole])).detail).toBe(
      'wifi.passphrase must have 8 characters. Give it more.; dragoman.json is empty',
    );
    expect(settingsNews(result('file_invalid', Array(50).fill(whole))).detail.match(/empty/g)).toHaveLength(
      8,
    );
  });

  it('is nothing when the result is unknown', () => {
    expect(settingsNews(null)).toEqual({ code: null, isBad: false, detail: '', isMissing: false });
  });
});
