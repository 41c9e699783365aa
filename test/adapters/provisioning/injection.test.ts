/** What somebody could put into the fields so that it becomes a line of its own in a file of the system. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fc } from '../../properties.ts';
import { createSystem, type System, WIFI } from './system-folder.ts';

const HOSTILE = [
  ...[
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
  ],
  ...[
    '"\n}\nnetwork={\n',
    '\nkey_mgmt=NONE\n',
    '\n[wifi-security]\n',
    '\n[Match]\n',
    '%n',
    '$HOME',
    '$(reboot)',
    '`x`',
  ],
];
const hostileText = (most: number) =>
  fc
    .array(fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: 'binary', maxLength: 4 })), {
      maxLength: 8,
    })
    .map((parts) => parts.join('').slice(0, most));
const RUNS = { numRuns: 60 };

/** Sections of the form that both managers read, by a reader of our own kind: lines, nothing else. */
function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

const SUPPLICANT = [
  /^ctrl_interface=\/run\/wpa_supplicant$/,
  ...[/^country=[A-Z]{2}$/, /^network=\{$/, /^\tssid=([0-9a-f]{2}){1,32}$/, /^\tkey_mgmt=WPA-PSK$/],
  ...[/^\tpsk=[0-9a-f]{64}$/, /^\}$/],
];
const MANAGER = [
  ...[/^\[connection\]$/, /^id=dragoman-wifi$/, /^uuid=[0-9a-f-]{36}$/, /^type=wifi$/, /^autoconnect=true$/],
  ...[/^autoconnect-priority=10$/, /^autoconnect-retries=0$/, /^\[wifi\]$/, /^mode=infrastructure$/],
  ...[/^ssid=(\d{1,3};){1,32}$/, /^\[wifi-security\]$/, /^key-mgmt=wpa-psk$/, /^psk=[0-9a-f]{64}$/],
  ...[/^\[ipv4\]$/, /^method=auto$/, /^\[ipv6\]$/, /^method=auto$/],
];
const CASES = [
  { network: 'networkd', file: 'etc/wpa_supplicant/wpa_supplicant-wlan0.conf', lines: SUPPLICANT },
  {
    network: 'networkmanager',
    file: 'etc/NetworkManager/system-connections/dragoman-wifi.nmconnection',
    lines: MANAGER,
  },
] as const;

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

  it('stay one value each, whatever is in them', () => {
    let taken = 0;
    fc.assert(
      fc.property(hostileText(32), hostileText(63), (ssid, passphrase) => {
        if (check({ ...WIFI, ssid })) taken += 1;
        if (check({ ...WIFI, passphrase })) taken += 1;
      }),
      RUNS,
    );
    expect(taken).toBeGreaterThan(20);
  });

  it('are the very bytes of the name', () => {
    const ssid = '"\n[x]\n#ü;\\';
    expect(check({ ...WIFI, ssid })).toBe(true);
    const [, text = ''] = /^\t?ssid=(.*)$/m.exec(system.text(file)) ?? [];
    const bytes = text.includes(';')
      ? Buffer.from(text.split(';').slice(0, -1).map(Number))
      : Buffer.from(text, 'hex');
    expect(bytes.toString('utf8')).toBe(ssid);
  });

  it.each(['\ud800', '', 'x'.repeat(33)])('refuse what is no name: %j', (ssid) => {
    expect(check({ ...WIFI, ssid })).toBe(false);
  });
});

describe('other fields', () => {
  let system: System;
  beforeAll(() => {
    system = createSystem();
  });
  afterAll(() => system.remove());

  const isTaken = (document: object): boolean => {
    system.write('dragoman.json', { format: 1, ...document });
    return system.run({ isDry: true }).result.outcome === 'applied';
  };

  it('are refused with anything hostile in them', () => {
    for (const hostile of HOSTILE) {
      const fixed = { address: '192.168.1.20/24', gateway: '192.168.1.1', dns: ['192.168.1.1'] };
      const documents = [
        { wifi: { ...WIFI, country: `D${hostile}` } },
        { wifi: { ...WIFI, country: `DE${hostile}` } },
        { wifi: { ...WIFI, hidden: hostile } },
        { address: { ...fixed, address: `192.168.1.20/24${hostile}` } },
        { address: { ...fixed, address: `192.168.1.20${hostile}/24` } },
        { address: { ...fixed, gateway: `192.168.1.1${hostile}` } },
        { address: { ...fixed, dns: [`${hostile}192.168.1.1`] } },
        { timeZone: `Europe/Berlin${hostile}` },
        { timeZone: `${hostile}Europe/Berlin` },
        { sshKeys: [`ssh-ed25519 ${'A'.repeat(68)}${hostile}x ${hostile}\nssh-rsa x`] },
        { secrets: { 'mqtt-password': hostile.length === 1 ? `a\n${hostile}` : `\0${hostile}` } },
      ];
      for (const document of documents) expect([document, isTaken(document)]).toEqual([document, false]);
    }
  });

  it.each([
    '..',
    '../../etc/shadow',
    '/etc/shadow',
    'Europe/../Europe/Berlin',
    'Europe//Berlin',
    '.',
    '+01:00',
  ])('name no other file by a time zone: %s', (timeZone) => {
    expect(isTaken({ timeZone })).toBe(false);
  });

  it('begin no line of their own in what is told of them, and steer no terminal', () => {
    for (const hostile of HOSTILE) {
      const key = `x${hostile}Result: applied. y`;
      for (const document of [{ [key]: 1 }, { config: { [key]: 1 } }, { config: { log: { level: key } } }]) {
        system.write('dragoman.json', { format: 1, ...document });
        const { result } = system.run();
        expect(result.outcome).toBe('file_invalid');
        const lines = system.read('dragoman-status.txt').split('\r\n');
        expect(lines.filter((line) => line.startsWith('Result:'))).toHaveLength(1);
        expect(lines.join('')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
        const told = result.problems.flatMap(({ field, message, fix }) => [field, message, fix]);
        expect(told.join('')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      }
    }
  });

  it('never throw, whatever the file is', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json(),
          fc.string({ unit: 'binary' }),
          fc.uint8Array().map((bytes) => Buffer.from(bytes)),
        ),
        (content) => {
          system.write('dragoman.json', content);
          const { result } = system.run({ isDry: true });
          expect(['file_invalid', 'file_unreadable']).toContain(result.outcome);
        },
      ),
      { numRuns: 300 },
    );
  });
});
