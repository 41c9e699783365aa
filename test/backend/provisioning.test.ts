import { describe, expect, it } from 'vitest';
import {
  brokenPartOf,
  cloudInit,
  numbered,
  ownKeyIn,
  provisioningFile,
  withNumber,
} from '../../src/backend/broker/card-settings.ts';

describe('numbered names', () => {
  it('have as many digits as the last name, at least two', () => {
    expect(numbered('kiosk-{n}', 1, 2).map(({ name }) => name)).toEqual(['kiosk-01', 'kiosk-02']);
    expect(numbered('{n}-{n}', 99, 2).map(({ name }) => name)).toEqual(['099-099', '100-100']);
    expect(numbered('kiosk', 1, 1)).toEqual([{ name: 'kiosk', number: '01' }]);
  });

  it('replace {n} in all strings of a template only', () => {
    expect(withNumber({ a: ['{n}', 7, null], '{n}': { b: 'x{n}y' } }, '03')).toEqual({
      a: ['03', 7, null],
      '{n}': { b: 'x03y' },
    });
  });
});

const LOGIN = {
  tenant: 'museum',
  device: 'kiosk-01',
  groups: ['lobby'],
  ca: 'CA',
  mqtt: { url: 'mqtts://broker.example', prefix: 'dragoman/v1', username: 'museum.kiosk-01' },
};

describe('a provisioning file made from a template', () => {
  it('contains the common values and those of the device', () => {
    const template = {
      timeZone: 'UTC',
      config: { device: { label: 'Desk' }, mqtt: { allowInsecure: true }, lanes: [] },
    };
    expect(provisioningFile(template, { ...LOGIN, credential: { password: 'p' } }, ['KEY'])).toEqual({
      format: 1,
      timeZone: 'UTC',
      secrets: { 'mqtt-password': 'p' },
      caPem: 'CA',
      ownerKeysPem: ['KEY'],
      config: {
        device: { label: 'Desk', tenant: 'museum', id: 'kiosk-01', groups: ['lobby'] },
        mqtt: { allowInsecure: true, ...LOGIN.mqtt },
        lanes: [],
      },
    });
    const credential = { certificate: 'C', key: 'K' };
    expect(provisioningFile({}, { ...LOGIN, credential }, [])).toMatchObject({ certPem: 'C', keyPem: 'K' });
    expect(provisioningFile({}, { ...LOGIN, credential }, [])).not.toHaveProperty('ownerKeysPem');
  });

  it('cannot be made when the template has a list or number at a path to fill in', () => {
    expect(brokenPartOf({})).toBe(null);
    expect(brokenPartOf({ config: { device: {}, mqtt: {} } })).toBe(null);
    expect(brokenPartOf({ config: 7 })).toBe('config');
    expect(brokenPartOf({ config: { mqtt: [] } })).toBe('config.mqtt');
  });

  it('cannot be made when the template has a key that is set for each device', () => {
    expect(ownKeyIn({ config: { device: { label: 'x' }, mqtt: [] }, wifi: {} })).toBe(null);
    expect(ownKeyIn({ keyPem: 'x' })).toBe('keyPem');
    expect(ownKeyIn({ config: { mqtt: { url: 'x' } } })).toBe('config.mqtt.url');
  });
});

describe('user-data', () => {
  it('writes external values as base64 or plain ASCII', () => {
    const keys = ['ssh-ed25519 AAAA müseum "\u2028: #'];
    const text = cloudInit({ tenant: 'museum', device: 'kiosk-01' }, 'QUJD', keys);
    expect(text).toContain('  - "ssh-ed25519 AAAA m\\u00fcseum \\"\\u2028: #"\n');
    expect(text).toMatch(/^[\n\x20-\x7e]+$/);
    expect(text).toContain('enable, --now, ssh');
    expect(cloudInit({ tenant: 'museum', device: 'kiosk-01' }, 'QUJD', [])).not.toMatch(/ssh/);
  });
});
