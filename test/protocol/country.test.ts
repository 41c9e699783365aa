import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { countryFault } from '../../src/protocol/country.ts';
import { provisioningSchema } from '../../src/protocol/provisioning.ts';

describe('the country of a Wi-Fi', () => {
  it('is each country of ISO 3166-1', () => {
    const lines = readFileSync('/usr/share/zoneinfo/iso3166.tab', 'utf8').split('\n');
    const codes = lines.filter((line) => /^[A-Z]{2}\t/.test(line)).map((line) => line.slice(0, 2));
    expect(codes.length).toBeGreaterThan(240);
    expect(codes.filter((code) => countryFault(code) !== null)).toEqual([]);
  });

  it.each([
    ['UK', /must be "GB": "UK" is not the code of a country today/],
    ['uk', /must be "GB"/],
    ['DD', /must be "DE"/],
    ['SU', /must be "RU"/],
    ['XX', /must be the code of a country, such as "DE": "XX" is not one/],
    ['EN', /"EN" is not one/],
    ['EU', /"EU" is not one/],
    ['ZZ', /"ZZ" is not one/],
    ['XA', /"XA" is not one/],
    ['D1', /two letters/],
    ['DEU', /two letters/],
  ])('is not %s', (country, words) => {
    const wifi = { ssid: 'Museum', country };
    const read = provisioningSchema.safeParse({ format: 1, wifi });
    expect(read.error?.issues.map(({ path, message }) => [path.join('.'), message])).toEqual([
      ['wifi.country', expect.stringMatching(words)],
    ]);
    const good = provisioningSchema.parse({ format: 1, wifi: { ...wifi, country: 'gb' } });
    expect(good.wifi?.country).toBe('GB');
  });
});
