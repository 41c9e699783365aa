import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createSystem, type System, WIFI } from './system-folder.ts';

let system: System;
beforeEach(() => {
  system = createSystem('networkd');
});
afterEach(() => system.remove());

it('sets a wired address with systemd-networkd when that is enabled, without wpa_supplicant', () => {
  rmSync(join(system.root, 'usr/lib/systemd/system/wpa_supplicant@.service'));
  const wired = { format: 1, address: { address: '192.168.1.20/24', gateway: '192.168.1.1' } };
  system.write('dragoman.json', wired);
  expect(system.run().result).toMatchObject({ outcome: 'file_invalid', network: null });
  const wanted = join(system.root, 'etc/systemd/system/multi-user.target.wants');
  mkdirSync(wanted, { recursive: true });
  symlinkSync('/usr/lib/systemd/system/systemd-networkd.service', join(wanted, 'systemd-networkd.service'));
  expect(system.run().result).toMatchObject({ outcome: 'applied', network: 'networkd', wifi: false });
  expect(system.text('etc/systemd/network/10-dragoman-wired.network')).toContain('Address=192.168.1.20/24');
  system.write('dragoman.json', { ...wired, wifi: WIFI });
  expect(system.run().result).toMatchObject({ outcome: 'wifi_unsupported', network: null });
});
