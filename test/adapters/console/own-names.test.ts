import { describe, expect, it } from 'vitest';
import { createOwnNames } from '../../../src/adapters/console/own-names.ts';
import { createAuthority, issueCertificate } from '../../../src/backend/broker/authority.ts';
import { needs } from '../../needs.ts';
import { findOpenssl } from '../mqtt/mosquitto.ts';

const hasOpenssl = findOpenssl();
const authority = hasOpenssl ? createAuthority('test authority') : null;
const certificateOf = (name: string): string => {
  if (authority === null) throw new Error('openssl is missing');
  return issueCertificate(authority, { usage: 'server', name, days: 1 }).certificate;
};

describe('a console with a certificate', needs(!hasOpenssl && 'needs openssl'), () => {
  const asks = (names: ReturnType<typeof createOwnNames>, host: string, localAddress = '192.0.2.1') =>
    names.objectionTo({ hosts: [host], localAddress, isProxied: false }) === null;

  it('answers at the names of the certificate, and at those of the renewed one', () => {
    const names = createOwnNames([], certificateOf('kiosks.example'));
    expect(asks(names, 'Kiosks.example:8443')).toBe(true);
    expect(asks(names, 'other.example')).toBe(false);
    names.renew(certificateOf('other.example'));
    expect([asks(names, 'kiosks.example'), asks(names, 'other.example')]).toEqual([false, true]);
  });

  it.each([
    ['192.0.2.1:8443', '192.0.2.1', true],
    ['192.0.2.1', '::ffff:192.0.2.1', true],
    ['192.0.2.2', '192.0.2.1', false],
    ['[2001:DB8:0::1]:8443', '2001:db8::1', true],
    ['[2001:db8::2]', '2001:db8::1', false],
    ['198.51.100.9', '192.0.2.1', true],
  ])('asked for %s at %s answers: %s', (host, localAddress, isOwn) => {
    expect(asks(createOwnNames([], certificateOf('198.51.100.9')), host, localAddress)).toBe(isOwn);
  });

  it('answers a program that names no host', () => {
    const asked = { hosts: [], localAddress: '192.0.2.1', isProxied: false };
    expect(createOwnNames([], null).objectionTo(asked)).toBeNull();
  });

  it('shows a long or hostile name shortened, on one line', () => {
    const sentence = createOwnNames([], null).objectionTo({
      hosts: [`evil\u001b${'x'.repeat(500)}`],
      localAddress: '127.0.0.1',
      isProxied: false,
    });
    expect(sentence).toMatch(/"evil\?x{95}"/);
  });
});
