import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystem, FULL, type System } from './system-folder.ts';

const CUT_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG4zVmFiIxo8MqeV1wtxgk8K9fAQl/M1ml55UvD';
const ADDRESSES = ['127.0.0.2/8', '224.0.0.5/24', '0.0.0.5/24', '255.1.1.5/24'];

let system: System;
beforeEach(() => {
  system = createSystem();
});
afterEach(() => system.remove());

const folders = (): string[] =>
  readdirSync(join(system.root, 'etc'), { recursive: true, encoding: 'utf8' }).sort();

describe('a value that looks right and would not work', () => {
  it.each([
    ...ADDRESSES.map((address) => [{ address: { address } }, 'address.address', /can have/] as const),
    [{ address: { address: '192.168.1.20/24', dns: ['0.0.0.0'] } }, 'address.dns[0]', /of a server/] as const,
    [{ sshKeys: [CUT_KEY] }, 'sshKeys[0]', /not a complete key/] as const,
    [
      { secrets: { 'mqtt-password': 's3cret-w0rd\ud800' } },
      'secrets.mqtt-password',
      /half a character/,
    ] as const,
  ])('is refused with its field: %j', (part, field, message) => {
    const before = system.everything();
    system.write('dragoman.json', { format: 1, ...part });
    const { result } = system.run();
    expect(result.outcome).toBe('file_invalid');
    expect(result.problems.map((problem) => problem.field)).toEqual([field]);
    expect(result.problems[0]?.message).toMatch(message);
    expect(JSON.stringify(result)).not.toContain('s3cret-w0rd');
    expect(system.everything()).toEqual(before);
  });

  it('is reported together with the mistakes in the configuration', () => {
    const config = { ...FULL.config, lanez: [], mqtt: { ...FULL.config.mqtt, url: 'nowhere' } };
    const secrets = { 'mqtt-password': 's3cret-w0rd\ud800' };
    system.write('dragoman.json', { ...FULL, wifi: { ...FULL.wifi, country: 'UK' }, secrets, config });
    const fields = system.run().result.problems.map(({ field }) => field);
    expect(fields.sort()).toEqual([
      'config.lanez',
      'config.mqtt.url',
      'secrets.mqtt-password',
      'wifi.country',
    ]);
  });

  it('is reported once when it has the wrong type', () => {
    for (const [part, field] of [
      [{ sshKeys: CUT_KEY }, 'sshKeys'],
      [{ secrets: { 'mqtt-password': [] } }, 'secrets.mqtt-password'],
      [{ caPem: [] }, 'caPem'],
    ] as const) {
      system.write('dragoman.json', { format: 1, ...part });
      expect(system.run({ isDry: true }).result.problems).toMatchObject([{ field }]);
    }
  });

  it('is refused as a key that is special in JavaScript, in any object', () => {
    const text = JSON.stringify(FULL);
    for (const part of ['{', '"config":{', '"device":{', '"wifi":{', '"secrets":{']) {
      system.write('dragoman.json', text.replace(part, `${part}"__proto__":{"label":"x"},`));
      const { result } = system.run({ isDry: true });
      expect([part, result.outcome, result.problems.length]).toEqual([part, 'file_invalid', 1]);
      expect(result.problems[0]?.message).toMatch(/not a known key|an unknown key/);
    }
  });

  it('is not refused when it works: a DNS server on the device or elsewhere', () => {
    for (const dns of ['127.0.0.53', ['9.9.9.9', '127.0.0.1']]) {
      system.write('dragoman.json', { format: 1, address: { address: '192.168.1.20/24', dns } });
      expect(system.run({ isDry: true }).result).toMatchObject({ outcome: 'applied', problems: [] });
    }
  });
});

describe('a disk that cannot be written', () => {
  it('gets no empty folders either', () => {
    system.write('dragoman.json', FULL);
    mkdirSync(join(system.root, 'etc/timezone'));
    const before = folders();
    expect(system.run().result.outcome).toBe('write_failed');
    expect(folders()).toEqual(before);
  });

  it('is reported when a file is in the place of a folder', () => {
    system.write('dragoman.json', FULL);
    writeFileSync(join(system.root, 'etc/modprobe.d'), '');
    const before = [system.everything(), folders()];
    const { result } = system.run();
    expect(result.outcome).toBe('write_failed');
    expect(result.problems[0]?.message).toContain('a part of its path is a file');
    expect([system.everything(), folders()]).toEqual(before);
  });
});
