import { describe, expect, it } from 'vitest';
import { keyKeptFor } from '../../../src/installer/core/network-rules.ts';
import { type FileWrite, PLACES, type Write } from '../../../src/installer/core/places.ts';
import { type Facts, planProvisioning } from '../../../src/installer/core/plan.ts';
import type { ProvisioningDocument } from '../../../src/protocol/provisioning.ts';

const KEY = 'ab'.repeat(32);
const FACTS: Facts = {
  network: 'networkd',
  wifiKey: KEY,
  present: () => null,
  zoneFor: (name) => name,
  readsSshKeys: true,
  isSetUp: false,
  keyProblems: [],
  configProblems: [],
};
const WIFI = { ssid: 'Museum', passphrase: 'correct horse', country: 'DE', hidden: false };
const STATIC = { address: '192.168.1.20/24', gateway: '192.168.1.1', dns: ['192.168.1.1', '9.9.9.9'] };
const PEM = '-----BEGIN CERTIFICATE-----\r\nAAAA\r\n-----END CERTIFICATE-----';

const planOf = (document: Omit<ProvisioningDocument, 'format'>, facts: Partial<Facts> = {}) =>
  planProvisioning({ format: 1, ...document }, { ...FACTS, ...facts });
const writesOf = (...given: Parameters<typeof planOf>): readonly Write[] => {
  const plan = planOf(...given);
  if (!plan.ok) throw new Error(JSON.stringify(plan.problems));
  return plan.writes;
};
const fileAt = (writes: readonly Write[], path: string): FileWrite => {
  const found = writes.find((write): write is FileWrite => write.kind === 'file' && write.path === path);
  if (found === undefined) throw new Error(`nothing for ${path}`);
  return found;
};
const faultsOf = (...given: Parameters<typeof planOf>) => {
  const plan = planOf(...given);
  return plan.ok ? null : { outcome: plan.outcome, fields: plan.problems.map(({ field }) => field) };
};

describe('the plan', () => {
  it('is empty for an empty file', () => {
    expect(planOf({})).toEqual({ ok: true, writes: [], missing: [], notes: [] });
  });

  it('sets up Wi-Fi for systemd-networkd and wpa_supplicant', () => {
    const writes = writesOf({ wifi: { ...WIFI, hidden: true }, address: STATIC });
    const supplicant = fileAt(writes, PLACES.supplicant);
    expect(supplicant).toMatchObject({ mode: 0o600, owner: 'root' });
    expect(supplicant.content).toContain(
      `country=DE\nnetwork={\n\tssid=4d757365756d\n\tscan_ssid=1\n\tkey_mgmt=WPA-PSK\n\tpsk=${KEY}\n}\n`,
    );
    expect(fileAt(writes, PLACES.networkdWifi).content).toContain(
      '[Match]\nName=wlan0\n\n[Link]\nRequiredForOnline=no\n\n[Network]\nAddress=192.168.1.20/24\nGateway=192.168.1.1\nDNS=192.168.1.1\nDNS=9.9.9.9\nMulticastDNS=resolve\n',
    );
    expect(fileAt(writes, PLACES.regulatory).content).toMatch(/\noptions cfg80211 ieee80211_regdom=DE\n$/);
    expect(writes).toContainEqual(expect.objectContaining({ kind: 'link', path: PLACES.supplicantWanted }));
  });

  it('sets up Wi-Fi for NetworkManager', () => {
    const facts = { network: 'networkmanager' } as const;
    const profile = fileAt(writesOf({ wifi: { ...WIFI, hidden: true } }, facts), PLACES.managerWifi);
    expect(profile).toMatchObject({ mode: 0o600, owner: 'root' });
    expect(profile.content).toContain(
      `[wifi]\nmode=infrastructure\nssid=77;117;115;101;117;109;\nhidden=true\n\n[wifi-security]\nkey-mgmt=wpa-psk\npsk=${KEY}\n\n[ipv4]\nmethod=auto\n`,
    );
    const fixed = fileAt(writesOf({ wifi: WIFI, address: STATIC }, facts), PLACES.managerWifi);
    expect(fixed.content).toContain(
      '[ipv4]\nmethod=manual\naddress1=192.168.1.20/24,192.168.1.1\ndns=192.168.1.1;9.9.9.9;\n',
    );
    expect(fixed.content).not.toContain('hidden');
  });

  it('switches Wi-Fi on when NetworkManager has it off, as shipped with Raspberry Pi OS', () => {
    const state = '[main]\nNetworkingEnabled=true\nWirelessEnabled=false\nWWANEnabled=true\n';
    const present = (path: string) => (path === PLACES.managerState ? state : null);
    const facts = { network: 'networkmanager', present } as const;
    expect(fileAt(writesOf({ wifi: WIFI }, facts), PLACES.managerState).content).toBe(
      state.replace('false', 'true'),
    );
    const paths = (...given: Parameters<typeof writesOf>) => writesOf(...given).map(({ path }) => path);
    expect(paths({ wifi: WIFI }, { present })).not.toContain(PLACES.managerState);
    expect(paths({ address: 'dhcp' }, facts)).not.toContain(PLACES.managerState);
    const on = (path: string) => present(path)?.replace('false', 'true') ?? null;
    expect(paths({ wifi: WIFI }, { ...facts, present: on })).not.toContain(PLACES.managerState);
  });

  it('accepts an open network without a passphrase, with a note about the risk', () => {
    const { passphrase: _, country: __, ...open } = WIFI;
    for (const network of ['networkd', 'networkmanager'] as const) {
      const plan = planOf({ wifi: open }, { network, wifiKey: null });
      if (!plan.ok) throw new Error('refused');
      const text = JSON.stringify(plan.writes);
      expect(text).not.toMatch(/psk|regdom|country=/);
      expect(text.includes('key_mgmt=NONE')).toBe(network === 'networkd');
      expect(plan.notes).toEqual([
        expect.stringContaining('no passphrase'),
        expect.stringContaining('No country'),
      ]);
    }
  });

  it('sets up the wired network for an address without Wi-Fi', () => {
    const { gateway: _, ...alone } = { ...STATIC, dns: [] };
    expect(fileAt(writesOf({ address: 'dhcp' }), PLACES.networkdWired).content).toContain(
      '[Match]\nName=en* eth*\nType=ether\n\n[Link]\nRequiredForOnline=no\n\n[Network]\nDHCP=yes\nMulticastDNS=resolve\n',
    );
    expect(fileAt(writesOf({ address: alone }), PLACES.networkdWired).content).toMatch(
      /\[Network\]\nAddress=192\.168\.1\.20\/24\nMulticastDNS=resolve\n$/,
    );
    const wired = fileAt(
      writesOf({ address: alone }, { network: 'networkmanager' }),
      PLACES.managerWired,
    ).content;
    expect(wired).toContain('type=ethernet');
    expect(wired).toContain('address1=192.168.1.20/24\n\n[ipv6]');
  });

  it.each([
    [{ ...STATIC, gateway: '192.168.2.1' }, 'address.gateway'],
    [{ ...STATIC, gateway: '192.168.1.20' }, 'address.gateway'],
    [{ ...STATIC, gateway: '192.168.1.255' }, 'address.gateway'],
    [{ ...STATIC, address: '192.168.1.0/24' }, 'address.address'],
    [{ ...STATIC, address: '192.168.1.255/24' }, 'address.address'],
    [{ ...STATIC, address: '255.255.255.255/1', gateway: '128.0.0.1' }, 'address.address'],
  ])('refuses an address that no device can have: %j', (address, field) => {
    expect(faultsOf({ address })).toEqual({ outcome: 'file_invalid', fields: [field] });
    expect(faultsOf({ wifi: WIFI, address })).toEqual({ outcome: 'file_invalid', fields: [field] });
  });

  it('keeps the passphrase that was removed from the file, only for the network of that name', () => {
    const taken = { ...WIFI, passphrase: null };
    for (const network of ['networkd', 'networkmanager'] as const) {
      const place = network === 'networkd' ? PLACES.supplicant : PLACES.managerWifi;
      const before = fileAt(writesOf({ wifi: WIFI }, { network }), place).content;
      const present = (path: string) => (path === place ? before : null);
      const facts = { network, present, wifiKey: null };
      expect(fileAt(writesOf({ wifi: taken }, facts), place).content).toBe(before);
      expect(fileAt(writesOf({ wifi: { ...taken, hidden: true } }, facts), place).content).toContain(
        `psk=${KEY}`,
      );
      expect(faultsOf({ wifi: { ...taken, ssid: 'Museu' } }, facts)).toEqual({
        outcome: 'file_invalid',
        fields: ['wifi.passphrase'],
      });
    }
    expect(faultsOf({ wifi: taken, address: { ...STATIC, gateway: '10.0.0.1' } })?.fields).toEqual([
      'address.gateway',
      'wifi.passphrase',
    ]);
    expect(keyKeptFor('networkd', 'Museum', '\tssid=4d757365756d\n\tkey_mgmt=NONE\n')).toBe(null);
  });

  it('refuses Wi-Fi without a network manager', () => {
    const facts = { network: null };
    expect(faultsOf({ wifi: WIFI }, facts)).toEqual({ outcome: 'wifi_unsupported', fields: ['wifi'] });
    expect(writesOf({ timeZone: 'UTC' }, facts)).toHaveLength(2);
  });

  it('refuses an address without a network manager, and does not call that Wi-Fi', () => {
    const plan = planOf({ address: { ...STATIC, gateway: '192.168.2.1' } }, { network: null });
    if (plan.ok) throw new Error('accepted');
    expect(plan.outcome).toBe('file_invalid');
    expect(plan.problems).toEqual([
      expect.objectContaining({ field: 'address', message: expect.not.stringContaining('wpa_supplicant') }),
      expect.objectContaining({ field: 'address.gateway' }),
    ]);
    expect(faultsOf({ address: 'dhcp' }, { network: null })?.outcome).toBe('file_invalid');
    expect(
      faultsOf({ wifi: WIFI, address: { ...STATIC, gateway: '192.168.2.1' } }, { network: null }),
    ).toEqual({
      outcome: 'wifi_unsupported',
      fields: ['wifi', 'address.gateway'],
    });
  });

  it('sets the time zone, if the system knows it', () => {
    expect(writesOf({ timeZone: 'Europe/Berlin' })).toEqual([
      { kind: 'link', path: '/etc/localtime', target: '/usr/share/zoneinfo/Europe/Berlin' },
      expect.objectContaining({ path: '/etc/timezone', content: 'Europe/Berlin\n', mode: 0o644 }),
    ]);
    expect(faultsOf({ timeZone: 'Europe/Berlin' }, { zoneFor: () => null })?.fields).toEqual(['timeZone']);
  });

  it('sets the name that the system has for an old name of a time zone, with a note', () => {
    const plan = planOf({ timeZone: 'US/Eastern' }, { zoneFor: () => 'America/New_York' });
    if (!plan.ok) throw new Error('refused');
    expect(plan.writes).toEqual([
      { kind: 'link', path: '/etc/localtime', target: '/usr/share/zoneinfo/America/New_York' },
      expect.objectContaining({ path: '/etc/timezone', content: 'America/New_York\n' }),
    ]);
    expect(plan.notes).toEqual(['timeZone: "US/Eastern" is set as "America/New_York".']);
  });

  it('writes each certificate and key to its path with the required mode, and names it in the configuration', () => {
    const writes = writesOf({
      config: { mqtt: { url: 'mqtts://broker.example', passwordFile: 'mqtt-password' } },
      secrets: { 'mqtt-password': 'secret' },
      caPem: `note\n${PEM}\nnote`,
      certPem: PEM,
      keyPem: PEM,
      ownerKeysPem: [PEM, PEM],
    });
    expect(fileAt(writes, PLACES.password)).toMatchObject({
      content: 'secret',
      mode: 0o600,
      owner: 'dragoman',
    });
    expect(fileAt(writes, PLACES.key)).toMatchObject({ mode: 0o600, owner: 'dragoman' });
    expect(fileAt(writes, PLACES.ca)).toMatchObject({
      content: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
      mode: 0o644,
    });
    expect(JSON.parse(fileAt(writes, PLACES.config).content)).toEqual({
      mqtt: {
        url: 'mqtts://broker.example',
        passwordFile: PLACES.password,
        caFile: PLACES.ca,
        certFile: PLACES.certificate,
        keyFile: PLACES.key,
      },
      owner: { publicKeyFiles: ['/etc/dragoman/owner-1.pub.pem', '/etc/dragoman/owner-2.pub.pem'] },
    });
    expect(fileAt(writes, PLACES.mainConfig).content).toContain('{}');
    expect(writes.some(({ path }) => path === '/etc/dragoman/owner-2.pub.pem')).toBe(true);
  });

  it('leaves the present configuration unchanged', () => {
    const present = (path: string) => (path === PLACES.mainConfig ? '{}' : null);
    const writes = writesOf({ config: { log: { level: 'debug' } } }, { present });
    expect(writes.map(({ path }) => path)).toEqual([PLACES.config]);
  });

  it.each([
    [{ config: { mqtt: { caFile: '/elsewhere' } }, caPem: PEM }, 'config.mqtt.caFile'],
    [{ config: { mqtt: { keyFile: 7 } }, keyPem: null }, 'config.mqtt.keyFile'],
    [{ config: { owner: { publicKeyFiles: ['/x'] } }, ownerKeysPem: [PEM] }, 'config.owner.publicKeyFiles'],
    [{ config: { owner: { publicKeyFiles: '/x' } }, ownerKeysPem: [PEM] }, 'config.owner.publicKeyFiles'],
  ])('refuses a configuration that names another file: %j', (document, field) => {
    expect(faultsOf(document)).toEqual({ outcome: 'file_invalid', fields: [field] });
  });

  it('leaves values that are not objects to the schema of the configuration', () => {
    const configProblems = [{ field: 'config.mqtt', message: 'must be an object', fix: '' }];
    expect(faultsOf({ config: { mqtt: 7 }, caPem: PEM }, { configProblems })).toEqual({
      outcome: 'file_invalid',
      fields: ['config.mqtt'],
    });
  });

  it('keeps the settings of an earlier file that this one leaves out', () => {
    const first = { config: { device: { id: 'a' }, mqtt: { username: 'u' } }, caPem: PEM };
    const login = { secrets: { 'mqtt-password': 'x' }, ownerKeysPem: [PEM] };
    const before = fileAt(writesOf({ ...first, ...login }), PLACES.config).content;
    const present = (path: string) => (path === PLACES.config ? before : 'there');
    const then = (document: Parameters<typeof planOf>[0]) =>
      JSON.parse(fileAt(writesOf(document, { present }), PLACES.config).content);
    expect(then({ caPem: PEM })).toEqual(JSON.parse(before));
    const { passwordFile: _, ...mqtt } = JSON.parse(before).mqtt;
    expect(then({ config: { mqtt: { username: 'v' } } })).toEqual({
      mqtt: { ...mqtt, username: 'v', passwordFile: PLACES.password },
      owner: { publicKeyFiles: ['/etc/dragoman/owner-1.pub.pem'] },
    });
    // Settings that no longer fit, or that were removed on purpose.
    const without = then({ config: { mqtt: { caFile: null }, owner: { publicKeyFiles: [] } } });
    expect(without).toEqual({ mqtt: { caFile: null }, owner: { publicKeyFiles: [] } });
    const damaged = (path: string) => (path === PLACES.config ? '[' : 'there');
    expect(fileAt(writesOf({ caPem: PEM }, { present: damaged }), PLACES.config).content).toContain('caFile');
  });

  it('accepts lists that are empty or name the same files', () => {
    for (const publicKeyFiles of [[], ['/etc/dragoman/owner-1.pub.pem']])
      expect(faultsOf({ config: { owner: { publicKeyFiles } }, ownerKeysPem: [PEM] })).toBe(null);
  });

  it('knows a password that was removed from the file', () => {
    const document = { config: {}, secrets: { 'mqtt-password': null } };
    const writes = writesOf(document, { present: () => 'there' });
    expect(writes.map(({ path }) => path)).toEqual([PLACES.config]);
    expect(fileAt(writes, PLACES.config).content).toContain(PLACES.password);
  });

  it('permits logins with SSH keys, with a note when the SSH server does not read them', () => {
    const document = { sshKeys: ['ssh-ed25519 AAAA anna', 'ssh-ed25519 BBBB ben'] };
    expect(fileAt(writesOf(document), PLACES.sshKeys).content).toBe(
      'ssh-ed25519 AAAA anna\nssh-ed25519 BBBB ben\n',
    );
    const plan = planOf(document, { readsSshKeys: false });
    expect(plan.ok && plan.notes).toEqual([expect.stringContaining('AuthorizedKeysFile')]);
  });

  it('writes nothing when there is any mistake, and reports its kind', () => {
    const keyProblems = [{ field: 'keyPem', message: 'is of another certificate', fix: '' }];
    expect(faultsOf({ wifi: WIFI }, { keyProblems })).toEqual({
      outcome: 'key_unreadable',
      fields: ['keyPem'],
    });
    expect(faultsOf({ wifi: WIFI }, { keyProblems, network: null })).toEqual({
      outcome: 'file_invalid',
      fields: ['wifi', 'keyPem'],
    });
  });
});
