/** A card whose third partition was destroyed: its own dragoman.json is there, but the secrets are lost. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CONFIG, createSystem, FULL, type System, WIFI } from './system-folder.ts';

const KEY = `ssh-ed25519 ${Buffer.concat([
  Buffer.from([0, 0, 0, 11]),
  Buffer.from('ssh-ed25519'),
  Buffer.from([0, 0, 0, 32]),
  Buffer.alloc(32, 7),
]).toString('base64')} anna`;
const TAKEN = {
  ...FULL,
  wifi: { ...WIFI, passphrase: null },
  secrets: { 'mqtt-password': null },
  sshKeys: [KEY],
};

let system: System;
beforeEach(() => {
  system = createSystem();
});
afterEach(() => system.remove());

const reported = (): string => system.read('dragoman-status.txt');

describe('a card that has lost its secrets', () => {
  it('allows its owner’s login, keeps its name and time, and lists the secrets to write again', () => {
    system.write('dragoman.json', TAKEN);
    const { result } = system.run();
    expect(result.outcome).toBe('secrets_missing');
    expect(result.problems.map(({ field }) => field)).toEqual(['wifi.passphrase', 'secrets.mqtt-password']);
    expect(system.text('etc/dragoman/authorized_keys')).toBe(`${KEY}\n`);
    expect(system.text('etc/timezone')).toBe('Europe/Berlin\n');
    expect(JSON.parse(system.text('etc/dragoman/conf.d/zz-provisioned.json'))).toMatchObject(CONFIG);
    expect(existsSync(join(system.root, 'etc/wpa_supplicant'))).toBe(false);
    expect(reported()).toMatch(
      /^Result: secrets_missing\. Secrets that were removed from dragoman\.json are not on/m,
    );
    expect(reported()).toContain(
      '- wifi.passphrase: was removed from the file, and this device has lost it. Write the passphrase again in place of null.',
    );
    expect(reported()).toContain('- secrets.mqtt-password: was removed');
  });

  it('reports them at each boot without further changes, and is complete once they are written', () => {
    system.write('dragoman.json', TAKEN);
    system.run();
    const before = system.everything();
    for (let boot = 0; boot < 2; boot += 1) expect(system.run().result.outcome).toBe('secrets_missing');
    expect(system.everything()).toEqual(before);
    system.write('dragoman.json', { ...TAKEN, wifi: WIFI });
    expect(system.run().result.problems.map(({ field }) => field)).toEqual(['secrets.mqtt-password']);
    expect(system.text('etc/wpa_supplicant/wpa_supplicant-wlan0.conf')).toContain('psk=');
    const left = JSON.parse(system.read());
    expect(left.wifi.passphrase).toBe(null);
    system.write('dragoman.json', { ...left, secrets: { 'mqtt-password': 'another' } });
    expect(system.run().result).toMatchObject({ outcome: 'applied', problems: [] });
    expect(system.run().result.outcome).toBe('unchanged');
  });

  it('changes nothing when the rest of the file has errors, and lists all of them', () => {
    const before = system.everything();
    system.write('dragoman.json', { ...TAKEN, config: { ...CONFIG, lanes: 7 } });
    const { result } = system.run();
    expect(result.outcome).toBe('file_invalid');
    expect(result.problems.map(({ field }) => field)).toEqual([
      'config.lanes',
      'wifi.passphrase',
      'secrets.mqtt-password',
    ]);
    expect(system.everything()).toEqual(before);
  });

  it('can be checked in a dry run, which writes nothing', () => {
    system.write('dragoman.json', TAKEN);
    const before = system.everything();
    const { result, writes } = system.run({ isDry: true });
    expect([result.outcome, writes.some(({ path }) => path.endsWith('authorized_keys'))]).toEqual([
      'secrets_missing',
      true,
    ]);
    expect(system.everything()).toEqual(before);
  });
});

describe('a kiosk that was set up by hand', () => {
  const { wifi: _, ...wired } = TAKEN;
  const setUp = (mqtt: object) => {
    const config = { ...CONFIG, mqtt: { ...CONFIG.mqtt, ...mqtt } };
    writeFileSync(join(system.root, 'etc/dragoman/config.json'), JSON.stringify(config));
    system.write('dragoman.json', wired);
  };

  it.each([
    ['needs no password', {}],
    ['has a credential', { passwordFile: 'own' }],
    ['has a password in a file', { passwordFile: '/etc/dragoman/own' }],
  ])('does not change when it gets the file of another one: it %s', (_, mqtt) => {
    setUp(mqtt);
    writeFileSync(join(system.root, 'etc/dragoman/own'), 'secret');
    const before = system.everything();
    const { result } = system.run();
    expect([result.outcome, result.problems.map(({ field }) => field)]).toEqual([
      'file_invalid',
      ['secrets.mqtt-password'],
    ]);
    expect(reported()).toContain('Nothing was changed.');
    expect(system.everything()).toEqual(before);
  });

  it('has lost its secrets when its password file is gone', () => {
    setUp({ passwordFile: '/etc/dragoman/own' });
    expect(system.run().result.outcome).toBe('secrets_missing');
  });
});
