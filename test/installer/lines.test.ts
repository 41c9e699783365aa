import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CONFIG, createSystem, type System } from './system-folder.ts';

let system: System;
beforeEach(() => {
  system = createSystem();
});
afterEach(() => system.remove());

describe('a mistake in dragoman.json', () => {
  it.each([
    ['a short passphrase', ['"wifi": {"ssid": "Museum",', '"passphrase": "short77"}'], 'wifi.passphrase', 4],
    ['a missing key', ['"wifi": {', '"country": "DE"}'], 'wifi.ssid', 3],
    ['a misspelt key', ['"wifi": {', '"sid": "Museum"}'], 'wifi.sid', 4],
    ['WPA3', ['"wifi": {"ssid": "Museum",', '"security": "sae"}'], 'wifi.security', 4],
    ['a wrong zone', ['"timeZone":', '"Mars/Base"'], 'timeZone', 3],
    ['a zone without data', ['"timeZone":', '"Asia/Tokyo"'], 'timeZone', 3],
    ['a wrong key', ['"sshKeys": [', '"ssh-rsa"]'], 'sshKeys[0]', 4],
    [
      'a gateway elsewhere',
      ['"address": {"address": "192.168.1.2/24",', '"gateway": "192.168.2.1"}'],
      'address.gateway',
      4,
    ],
  ])('is named with its line: %s', (_, lines, field, line) => {
    system.write('dragoman.json', ['{', '"format": 1,', ...lines, '}'].join('\n'));
    const { problems } = system.run().result;
    expect(problems.map((one) => one.field)).toEqual([field]);
    expect(problems[0]?.message).toMatch(new RegExp(`\\(line ${line}, column \\d+\\)$`));
  });

  it('is named with its line when it is in the configuration', () => {
    const config = { ...CONFIG, mqtt: { url: 'nowhere' } };
    // Each key has a line of its own: format, config, device, id, tenant, a brace, mqtt, url.
    system.write('dragoman.json', JSON.stringify({ format: 1, config }, null, 1));
    expect(system.run().result.problems).toMatchObject([
      { field: 'config.mqtt.url', message: expect.stringMatching(/ \(line 9\)$/) },
    ]);
  });
});
