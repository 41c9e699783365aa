import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKeyPair } from '../../src/adapters/signing/signing-keys.ts';
import {
  createAuthority,
  issueCertificate,
  type KeyedCertificate,
} from '../../src/backend/broker/authority.ts';
import { findOpenssl } from '../adapters/mqtt/mosquitto.ts';
import { needs } from '../needs.ts';
import { CONFIG, createSystem, type System, WALL } from './system-folder.ts';

const hasOpenssl = findOpenssl();
const YEAR_MS = 365 * 86_400_000;

describe(
  `certificates and keys of the file${hasOpenssl ? '' : ': no openssl'}`,
  needs(!hasOpenssl && 'needs openssl'),
  () => {
    let authority: KeyedCertificate;
    let own: KeyedCertificate;
    let other: KeyedCertificate;
    let system: System;
    const now = Date.now();

    beforeAll(() => {
      authority = createAuthority('Museum');
      const wanted = { usage: 'client', name: 'museum.kiosk-01', days: 365 } as const;
      own = issueCertificate(authority, wanted);
      other = issueCertificate(authority, wanted);
      system = createSystem();
    });
    afterAll(() => system.remove());

    const parts = () => ({
      format: 1,
      config: CONFIG,
      caPem: authority.certificate,
      certPem: own.certificate,
      keyPem: own.key,
      ownerKeysPem: [createKeyPair().publicPem],
    });
    const run = (document: object, wall: number | null = now) => {
      system.write('dragoman.json', document);
      return system.run({ wall }).result;
    };
    const encrypted = () =>
      generateKeyPairSync('ec', {
        namedCurve: 'P-256',
        publicKeyEncoding: { type: 'spki', format: 'pem' },
        privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' },
      }).privateKey;
    const garbage = (label: string): string =>
      `-----BEGIN ${label}-----\n${randomBytes(90).toString('base64')}\n-----END ${label}-----\n`;

    it('are put into place, and their dates reported', () => {
      const result = run(parts());
      expect(result).toMatchObject({ outcome: 'applied', problems: [] });
      expect(result.notes.join(' ')).toMatch(
        /caPem: CN=Museum, valid until 20\d\d-.*certPem: CN=museum\.kiosk-01, valid until/,
      );
      expect(system.text('etc/dragoman/secrets/mqtt.key')).toBe(own.key);
      expect(system.text('etc/dragoman/mqtt.crt')).toBe(own.certificate);
      expect(system.read()).not.toContain(own.key.split('\n')[1]);
    });

    it('are checked with the device’s key when the file’s key was removed', () => {
      run(parts());
      const left = JSON.parse(system.read());
      expect(left.keyPem).toBe(null);
      expect(run({ ...left, timeZone: 'Europe/Berlin' }).outcome).toBe('applied');
      const { keyPem: _, ...without } = left;
      expect(run(without).outcome).toBe('unchanged');
      expect(run(parts()).outcome).toBe('applied');
      expect(run({ ...left, certPem: other.certificate }).problems).toEqual([
        expect.objectContaining({
          field: 'keyPem',
          message: expect.stringContaining('the one on this device'),
        }),
      ]);
    });

    it.each([
      ['a key of another certificate', () => ({ keyPem: other.key }), 'keyPem', /to another certificate/],
      ['an invalid key', () => ({ keyPem: garbage('PRIVATE KEY') }), 'keyPem', /no private key/],
      ['a key with a password', () => ({ keyPem: encrypted() }), 'keyPem', /protected by a password/],
      ['an invalid certificate', () => ({ certPem: garbage('CERTIFICATE') }), 'certPem', /no certificate/],
      ['an empty authority', () => ({ caPem: 'Museum' }), 'caPem', /no certificate/],
      ['a key as authority', () => ({ caPem: authority.key }), 'caPem', /holds a private key/],
      ['a key without its certificate', () => ({ certPem: undefined }), 'certPem', /useless without/],
      [
        'the private key of the owner',
        () => ({ ownerKeysPem: [createKeyPair().privatePem] }),
        'ownerKeysPem[0]',
        /the backend alone/,
      ],
      [
        'a key of another kind',
        () => ({
          ownerKeysPem: [generateKeyPairSync('ed448').publicKey.export({ type: 'spki', format: 'pem' })],
        }),
        'ownerKeysPem[0]',
        /not an Ed25519 key/,
      ],
      ['an invalid owner key', () => ({ ownerKeysPem: ['nothing'] }), 'ownerKeysPem[0]', /no public key/],
    ])('are all refused because of %s', (_, change, field, message) => {
      const before = system.everything();
      const result = run({ ...parts(), ...change() });
      expect(result.outcome).toBe('key_unreadable');
      expect(result.problems).toEqual([
        expect.objectContaining({ field, message: expect.stringMatching(message) }),
      ]);
      expect(JSON.stringify(result)).not.toContain('PRIVATE');
      expect(system.everything()).toEqual(before);
    });

    it('are refused when there is no key at all', () => {
      const fresh = createSystem();
      fresh.write('dragoman.json', { ...parts(), keyPem: undefined });
      expect(fresh.run({ wall: now }).result.problems).toMatchObject([
        { field: 'keyPem', message: 'is missing' },
      ]);
      fresh.write('dragoman.json', { format: 1, config: CONFIG, keyPem: null });
      expect(fresh.run({ wall: now }).result.problems).toMatchObject([{ field: 'certPem' }]);
      fresh.remove();
    });

    it('are checked for their dates only when the clock is set', () => {
      expect(run(parts(), now + 2 * YEAR_MS).problems).toMatchObject(
        [{ field: 'certPem', message: /expired on/ }].map(({ field }) => ({ field })),
      );
      expect(run(parts(), null).problems).toEqual([]);
      const early = run(parts(), WALL - 30 * YEAR_MS);
      expect([early.problems, early.notes.join()]).toEqual([
        [],
        expect.stringContaining('is not valid before'),
      ]);
    });
  },
);
