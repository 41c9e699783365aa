/** Secrets and network names as they were copied out of files and pages. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystem, FULL, type System, WIFI } from './system-folder.ts';

const SUPPLICANT = 'etc/wpa_supplicant/wpa_supplicant-wlan0.conf';
const PASSWORD = 'etc/dragoman/secrets/mqtt-password';
let system: System;
beforeEach(() => {
  system = createSystem();
});
afterEach(() => system.remove());

function provisioned(part: { wifi?: object; password?: string }) {
  const { wifi, password } = part;
  system.write('dragoman.json', {
    ...FULL,
    ...(wifi !== undefined && { wifi: { ...WIFI, ...wifi } }),
    ...(password !== undefined && { secrets: { 'mqtt-password': password } }),
  });
  const { result } = system.run();
  return { result, supplicant: system.text(SUPPLICANT), password: system.text(PASSWORD) };
}

describe('a copied text', () => {
  it('is used without the byte order mark and the line end of the file that it comes from', () => {
    const plain = provisioned({ wifi: { ssid: 'Foyer', passphrase: 'a passphrase' }, password: 'swordfish' });
    expect(plain.result.notes.join()).not.toContain('which is kept');
    const copied = provisioned({
      wifi: { ssid: '\ufeffFoyer\r\n', passphrase: '\ufeffa passphrase\n' },
      password: '\ufeffswordfish\n',
    });
    expect(copied.result.outcome).toBe('unchanged');
    expect([copied.supplicant, copied.password]).toEqual([plain.supplicant, 'swordfish']);
    expect(JSON.stringify(copied.result)).not.toContain('swordfish');
  });

  it('is reported when it has blanks at its ends, or no-break or zero-width characters', () => {
    const { result, password } = provisioned({
      wifi: { ssid: 'Foyer ', passphrase: 'a\u00a0passphrase' },
      password: 'sword\u200bfish',
    });
    expect(password).toBe('sword\u200bfish');
    expect(result.outcome).toBe('applied');
    for (const words of [
      'wifi.ssid ends with a blank',
      'wifi.passphrase contains a no-break space (U+00A0)',
      'secrets.mqtt-password contains a zero-width character (U+200B)',
    ])
      expect(result.notes.join('\n')).toContain(words);
    expect(JSON.stringify(result)).not.toContain('fish');
  });
});
