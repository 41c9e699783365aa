/** Field values that try to become a line of their own in a system file. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fc } from '../properties.ts';
import { createSystem, type System, WIFI } from './system-folder.ts';

export const HOSTILE = [
  '\n',
  '\r\n',
  '\0',
  '"',
  "'",
  '\\',
  '\\n',
  '#',
  ';',
  '=',
  '[',
  ']',
  '{',
  '}',
  '\u2028',
  '\u0085',
  '\t',
  '\x1b[2J',
  '"\n}\nnetwork={\n',
  '\nkey_mgmt=NONE\n',
  '\n[wifi-security]\n',
  '\n[Match]\n',
  '%n',
  '$HOME',
  '$(reboot)',
  '`x`',
];
/** Any code points, including lone surrogates. The library's own generator takes two seconds to start. */
export const anyText = (maxLength: number) =>
  fc
    .array(fc.integer({ min: 0, max: 0x10ffff }), { maxLength })
    .map((points) => String.fromCodePoint(...points));
const hostileText = (most: number) =>
  fc
    .array(fc.oneof(fc.constantFrom(...HOSTILE), anyText(4)), {
      maxLength: 8,
    })
    .map((parts) => parts.join('').slice(0, most));
/** Parses files of both network managers independently of our code: lines, nothing else. */
function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

const SUPPLICANT = [
  /^ctrl_interface=\/run\/wpa_supplicant$/,
  /^country=[A-Z]{2}$/,
  /^network=\{$/,
  /^\tssid=([0-9a-f]{2}){1,32}$/,
  /^\tkey_mgmt=WPA-PSK$/,
  /^\tpsk=[0-9a-f]{64}$/,
  /^\}$/,
];
const MANAGER = [
  /^\[connection\]$/,
  /^id=dragoman-wifi$/,
  /^uuid=[0-9a-f-]{36}$/,
  /^type=wifi$/,
  /^autoconnect=true$/,
  /^autoconnect-priority=10$/,
  /^autoconnect-retries=0$/,
  /^\[wifi\]$/,
  /^mode=infrastructure$/,
  /^ssid=(\d{1,3};){1,32}$/,
  /^\[wifi-security\]$/,
  /^key-mgmt=wpa-psk$/,
  /^psk=[0-9a-f]{64}$/,
  /^\[ipv4\]$/,
  /^method=auto$/,
  /^\[ipv6\]$/,
  /^method=auto$/,
];
const CASES = [
  { network: 'networkd', file: 'etc/wpa_supplicant/wpa_supplicant-wlan0.conf', lines: SUPPLICANT },
  {
    network: 'networkmanager',
    file: 'etc/NetworkManager/system-connections/dragoman-wifi.nmconnection',
    lines: MANAGER,
  },
] as const;

/** Tests this many names and passphrases. At least a third of them must be accepted. */
export function describeNames(numRuns: number): void {
  describe.each(CASES)('names and passphrases for $network', ({ network, file, lines }) => {
    let system: System;
    beforeAll(() => {
      system = createSystem(network);
    });
    afterAll(() => system.remove());

    const check = (wifi: object): boolean => {
      system.write('dragoman.json', { format: 1, wifi });
      const { outcome } = system.run().result;
      if (outcome !== 'applied' && outcome !== 'unchanged') return false;
      const found = linesOf(system.text(file));
      expect(found.length).toBe(lines.length);
      for (const [index, line] of found.entries()) expect(line).toMatch(lines[index] ?? /never/);
      return true;
    };

    it('stay one value each, for any content', () => {
      let taken = 0;
      fc.assert(
        fc.property(hostileText(32), hostileText(63), (ssid, passphrase) => {
          if (check({ ...WIFI, ssid })) taken += 1;
          if (check({ ...WIFI, passphrase })) taken += 1;
        }),
        { numRuns },
      );
      expect(taken).toBeGreaterThan(numRuns / 3);
    });

    it('have exactly the bytes of the name', () => {
      const ssid = '"\n[x]\n#ü;\\';
      expect(check({ ...WIFI, ssid })).toBe(true);
      const [, text = ''] = /^\t?ssid=(.*)$/m.exec(system.text(file)) ?? [];
      const bytes = text.includes(';')
        ? Buffer.from(text.split(';').slice(0, -1).map(Number))
        : Buffer.from(text, 'hex');
      expect(bytes.toString('utf8')).toBe(ssid);
    });

    it.each(['\ud800', '', 'x'.repeat(33)])('refuse an invalid name: %j', (ssid) => {
      expect(check({ ...WIFI, ssid })).toBe(false);
    });
  });
}
