/** A card that has lost its secrets: the file on it holds `null` in their place, and there is no other copy. */
import { describe, expect, it } from 'vitest';
import { PLACES } from '../../../src/installer/core/places.ts';
import { type Facts, planProvisioning } from '../../../src/installer/core/plan.ts';
import type { ProvisioningDocument } from '../../../src/protocol/provisioning.ts';

const NOTHING: Facts = {
  network: 'networkd',
  wifiKey: null,
  present: () => null,
  zoneFor: (name) => name,
  readsSshKeys: true,
  isSetUp: false,
  keyProblems: [],
  configProblems: [],
};
const PEM = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----';
const TAKEN = {
  wifi: { ssid: 'Museum', passphrase: null, country: 'DE', hidden: false },
  timeZone: 'Europe/Berlin',
  config: { device: { id: 'kiosk-01' }, mqtt: { username: 'museum.kiosk-01' } },
  secrets: { 'mqtt-password': null },
  caPem: PEM,
  sshKeys: ['ssh-ed25519 AAAA anna'],
};

const planOf = (document: Omit<ProvisioningDocument, 'format'>, facts: Partial<Facts> = {}) =>
  planProvisioning({ format: 1, ...document }, { ...NOTHING, ...facts });
/** A device with these files and no others. */
const having =
  (files: Readonly<Record<string, string>>) =>
  (place: string): string | null =>
    files[place] ?? null;
const fieldsOf = (list: readonly { field: string }[]): string[] => list.map(({ field }) => field);

describe('secrets that were removed from the file and lost', () => {
  it('are named, and everything that works without them is set up', () => {
    const plan = planOf(TAKEN);
    if (!plan.ok) throw new Error(JSON.stringify(plan.problems));
    expect(fieldsOf(plan.missing)).toEqual(['wifi.passphrase', 'secrets.mqtt-password']);
    for (const { message, fix } of plan.missing) {
      expect(message).toContain('this device has lost it');
      expect(fix).toMatch(/^Write the pass(phrase|word) again in place of null\.$/);
    }
    expect(plan.writes.map(({ path }) => path).sort()).toEqual(
      [PLACES.sshKeys, PLACES.localTime, PLACES.zoneName, PLACES.ca, PLACES.config, PLACES.mainConfig].sort(),
    );
    const config = plan.writes.find(({ path }) => path === PLACES.config);
    expect(config).toMatchObject({ content: expect.stringContaining('"id": "kiosk-01"') });
  });

  it('do not prevent a login with a key, and a note explains it', () => {
    const noteOf = (document: Omit<ProvisioningDocument, 'format'>, facts: Partial<Facts> = {}) => {
      const plan = planOf(document, facts);
      return plan.ok ? plan.notes.filter((note) => note.includes('log in')).join() : null;
    };
    expect(noteOf(TAKEN)).toContain('over a network cable');
    const { wifi: _, ...wired } = TAKEN;
    expect(noteOf(wired)).toMatch(/^You can log in with a key of "sshKeys"/);
    expect(noteOf(wired)).not.toContain('cable');
    expect(noteOf({ ...TAKEN, sshKeys: [] })).toBe('');
    expect(noteOf(TAKEN, { readsSshKeys: false })).not.toContain('can log in');
  });

  it('are the same at the next boot, and are requested until they are written', () => {
    const first = planOf(TAKEN);
    if (!first.ok) throw new Error('refused');
    const files = Object.fromEntries(
      first.writes.map((write) => [write.path, write.kind === 'file' ? write.content : write.target]),
    );
    const again = planOf(TAKEN, { present: having(files) });
    if (!again.ok) throw new Error('refused');
    expect(again.missing).toEqual(first.missing);
    // From a first run that a power cut ended early.
    const half = having({ [PLACES.sshKeys]: 'ssh-ed25519 AAAA anna\n' });
    expect(planOf(TAKEN, { present: half })).toEqual(first);
    const written = { ...TAKEN, wifi: { ...TAKEN.wifi, passphrase: 'correct horse' } };
    const then = planOf(written, { present: having(files), wifiKey: 'ab'.repeat(32) });
    if (!then.ok) throw new Error('refused');
    expect(fieldsOf(then.missing)).toEqual(['secrets.mqtt-password']);
    expect(then.writes.map(({ path }) => path)).toContain(PLACES.supplicant);
  });

  it('may be a private key that belongs to the certificate beside it', () => {
    const { secrets: _, wifi: __, ...rest } = TAKEN;
    const plan = planOf({ ...rest, certPem: PEM, keyPem: null });
    if (!plan.ok) throw new Error('refused');
    expect(fieldsOf(plan.missing)).toEqual(['keyPem']);
    expect(plan.writes.map(({ path }) => path)).toContain(PLACES.certificate);
  });

  it('change nothing when the file has another mistake', () => {
    const plan = planOf(TAKEN, { zoneFor: () => null });
    if (plan.ok) throw new Error('taken');
    expect(plan.outcome).toBe('file_invalid');
    expect(fieldsOf(plan.problems)).toEqual(['timeZone', 'wifi.passphrase', 'secrets.mqtt-password']);
  });
});

describe('a working device with the file of another one', () => {
  it('stays unchanged when it is in another network', () => {
    const plan = planOf(TAKEN, { present: having({ [PLACES.supplicant]: 'ssid=00' }) });
    if (plan.ok) throw new Error('taken');
    expect([plan.outcome, fieldsOf(plan.problems)]).toEqual([
      'file_invalid',
      ['wifi.passphrase', 'secrets.mqtt-password'],
    ]);
  });

  it('stays unchanged when it logs in by another method', () => {
    const { secrets: _, wifi: __, ...rest } = TAKEN;
    const password = planOf({ ...rest, secrets: TAKEN.secrets }, { isSetUp: true });
    const key = planOf({ ...rest, certPem: PEM, keyPem: null }, { isSetUp: true });
    if (password.ok || key.ok) throw new Error('taken');
    expect([password.outcome, fieldsOf(password.problems)]).toEqual([
      'file_invalid',
      ['secrets.mqtt-password'],
    ]);
    expect([key.outcome, fieldsOf(key.problems)]).toEqual(['key_unreadable', ['keyPem']]);
  });
});
