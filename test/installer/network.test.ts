import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readInterfaces, readWifiTrouble } from '../../src/installer/network.ts';

describe('the network interfaces of a machine', () => {
  it('are listed with their links and routable addresses', () => {
    const folder = mkdtempSync(join(tmpdir(), 'dragoman-net-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    for (const [name, carrier] of [
      ['eth0', '1\n'],
      ['wlan0', '0\n'],
      ['lo', '1\n'],
      ['docker0', '1\n'],
      ['eth1', null],
    ] as const) {
      mkdirSync(join(folder, name));
      if (carrier !== null) writeFileSync(join(folder, name, 'carrier'), carrier);
    }
    mkdirSync(join(folder, 'wlan0', 'wireless'));
    const address = (text: string, internal = false) => ({ address: text, internal });
    expect(
      readInterfaces(folder, () => ({
        eth0: [address('169.254.7.7'), address('fe80::1'), address('192.0.2.7'), address('2001:db8::7')],
        wlan0: [address('169.254.7.8')],
        lo: [address('127.0.0.1', true)],
      })),
    ).toEqual([
      { name: 'eth0', isWireless: false, hasLink: true, addresses: ['192.0.2.7', '2001:db8::7'] },
      { name: 'eth1', isWireless: false, hasLink: false, addresses: [] },
      { name: 'wlan0', isWireless: true, hasLink: false, addresses: [] },
    ]);
  });

  it('are empty when the kernel lists none', () => {
    expect(readInterfaces('/nowhere/at/all')).toEqual([]);
    for (const one of readInterfaces()) expect(one.name).not.toBe('lo');
  });

  it('have a Wi-Fi problem from the supplicant’s log or state', async () => {
    const said = (answers: Readonly<Record<string, string>>) =>
      readWifiTrouble(
        async (program, words) => {
          const text = answers[program];
          if (program === 'wpa_cli') expect(words).toEqual(['-s', '/run/x', '-i', 'wlan7', 'status']);
          return text === undefined ? { ok: false, missing: true, text: '' } : { ok: true, text };
        },
        'wlan7',
        '/run/x',
      );
    expect(await said({})).toBeNull();
    expect(await said({ journalctl: 'x reason=WRONG_KEY\n', wpa_cli: 'wpa_state=SCANNING\n' })).toBe(
      'password_wrong',
    );
    expect(await said({ journalctl: '', wpa_cli: 'bssid=x\nwpa_state=SCANNING\n' })).toBe('not_found');
    expect(await said({ wpa_cli: 'wpa_state=COMPLETED\n' })).toBeNull();
    expect(await said({ nmcli: '53 (The Wi-Fi network could not be found)\n' })).toBe('not_found');
    expect(await said({ nmcli: '7 (Secrets were required, but not provided)\n' })).toBe('password_wrong');
    expect(await said({ nmcli: '0 (No reason given)\n', wpa_cli: 'wpa_state=SCANNING\n' })).toBe('not_found');
  });
});
