/** Field values that try to become a line of their own in a system file. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fc } from '../properties.ts';
import { anyText, describeNames, HOSTILE } from './hostile-fields.ts';
import { createSystem, type System, WIFI } from './system-folder.ts';

describeNames(20);

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

  it('are refused with hostile content', () => {
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
  ])('cannot name another file by a time zone: %s', (timeZone) => {
    expect(isTaken({ timeZone })).toBe(false);
  });

  it('never begin a line or steer a terminal in a report', () => {
    for (const hostile of HOSTILE) {
      const key = `x${hostile}Result: applied. y`;
      for (const document of [{ [key]: 1 }, { config: { [key]: 1 } }, { config: { log: { level: key } } }]) {
        system.write('dragoman.json', { format: 1, ...document });
        const { result } = system.run();
        expect(result.outcome).toBe('file_invalid');
        const lines = system.read('dragoman-status.txt').split('\r\n');
        expect(lines.filter((line) => line.startsWith('Result:'))).toHaveLength(1);
        expect(lines.join('')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
        const reported = result.problems.flatMap(({ field, message, fix }) => [field, message, fix]);
        expect(reported.join('')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      }
    }
  });

  it('never throw, for any file', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json(),
          anyText(10),
          fc.uint8Array().map((bytes) => Buffer.from(bytes)),
        ),
        (content) => {
          system.write('dragoman.json', content);
          const { result } = system.run({ isDry: true });
          expect(['file_invalid', 'file_unreadable']).toContain(result.outcome);
        },
      ),
      { numRuns: 100 },
    );
  });
});
