import { expect, it } from 'vitest';
import { differingKeys, fingerprints } from '../../../src/device/config/fingerprints.ts';
import { testConfig } from '../fake-deps.ts';

const withFiles = (passwordFile: string, keys: string[]) => {
  const config = testConfig({});
  const mqtt = { ...config.mqtt, username: 'museum.kiosk-01', passwordFile };
  return fingerprints({ ...config, mqtt, owner: { ...config.owner, publicKeyFiles: keys } });
};

it('finds no difference when a secret was found in another folder', () => {
  const service = withFiles('/run/credentials/dragoman.service/mqtt-password', ['/etc/dragoman/owner.pem']);
  const person = withFiles('/etc/dragoman/secrets/mqtt-password', ['owner.pem']);
  expect(differingKeys(service, person)).toEqual([]);
});

it('finds another file, one file more, and another value', () => {
  const one = withFiles('mqtt-password', ['owner.pem']);
  expect(differingKeys(one, withFiles('old-password', ['owner.pem']))).toEqual(['mqtt']);
  expect(differingKeys(one, withFiles('mqtt-password', ['owner.pem', 'next.pem']))).toEqual(['owner']);
  const other = { ...testConfig({}), device: { ...testConfig({}).device, label: 'by the door' } };
  expect(differingKeys(fingerprints(testConfig({})), fingerprints(other))).toEqual(['device']);
});
