import { describe, expect, it } from 'vitest';
import {
  BOOT_FINDINGS,
  isGood,
  PROVISIONING_OUTCOMES,
  provisioningResultSchema,
} from '../../../src/installer/core/outcome.ts';

describe('outcomes', () => {
  it('are good when the file is in effect, or there is none', () => {
    expect(PROVISIONING_OUTCOMES.filter(isGood)).toEqual(['applied', 'unchanged', 'no_file']);
  });

  it('have one meaning each', () => {
    const all = [...PROVISIONING_OUTCOMES, ...BOOT_FINDINGS];
    expect(new Set(all).size).toBe(all.length);
  });

  it('are passed to other programs in one fixed form', () => {
    const result = {
      format: 1,
      at: null,
      outcome: 'file_invalid',
      file: '/boot/firmware/dragoman.json',
      problems: [{ field: 'wifi.ssid', message: 'is missing', fix: 'Write the name of the network.' }],
      notes: [],
      network: 'networkd',
      wifi: true,
    };
    expect(provisioningResultSchema.parse(result)).toEqual(result);
    expect(provisioningResultSchema.safeParse({ ...result, outcome: 'done' }).success).toBe(false);
    expect(provisioningResultSchema.safeParse({ ...result, passphrase: 'x' }).success).toBe(false);
  });
});
