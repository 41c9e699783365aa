import { describe, expect, it } from 'vitest';
import { readCookie, setCookie } from '../../../src/adapters/console/cookie.ts';
import { createWhence } from '../../../src/adapters/console/whence.ts';

describe('the address of a browser', () => {
  const whence = createWhence(['10.0.0.0/8', '127.0.0.1', 'fd00::/8']);
  it.each([
    ['10.1.1.1', '203.0.113.9', '203.0.113.9'],
    // The browser wrote the first one itself, so that each guess has another address.
    ['10.1.1.1', '1.2.3.4, 203.0.113.9', '203.0.113.9'],
    ['10.1.1.1', '1.2.3.4, 203.0.113.9, 10.2.2.2', '203.0.113.9'],
    ['10.1.1.1', '203.0.113.9, unknown', '203.0.113.9'],
    ['10.1.1.1', '[2001:DB8::1], fd00::7', '2001:db8::1'],
    ['10.1.1.1', '10.2.2.2', '10.1.1.1'],
    ['10.1.1.1', 'unknown', '10.1.1.1'],
    ['10.1.1.1', '', '10.1.1.1'],
    ['10.255.255.255', '203.0.113.9', '203.0.113.9'],
    ['::ffff:10.1.1.1', '203.0.113.9', '203.0.113.9'],
    ['127.0.0.1', '203.0.113.9', '203.0.113.9'],
    // Not listed: anybody writes these headers.
    ['127.0.0.2', '203.0.113.9', '127.0.0.2'],
    ['11.0.0.0', '203.0.113.9', '11.0.0.0'],
    ['9.255.255.255', '203.0.113.9', '9.255.255.255'],
    ['fe80::1', '203.0.113.9', 'fe80::1'],
  ])('at %s with "X-Forwarded-For: %s" is %s', (remoteAddress, forwarded, address) => {
    const headers = { host: 'a.example', 'x-forwarded-for': forwarded };
    expect(whence.read({ headers, remoteAddress, isEncrypted: false }).address).toBe(address);
  });

  it('and its TLS and host are believed of a listed proxy alone', () => {
    const headers = {
      host: '10.0.0.1:8080',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'Kiosks.example',
    };
    const read = (remoteAddress: string, isEncrypted = false) =>
      whence.read({ headers, remoteAddress, isEncrypted });
    expect(read('10.1.1.1')).toEqual({
      address: '10.1.1.1',
      isProxied: true,
      isSecure: true,
      hosts: ['10.0.0.1:8080', 'Kiosks.example'],
      origin: 'https://kiosks.example',
    });
    expect(read('192.0.2.1')).toEqual({
      address: '192.0.2.1',
      isProxied: false,
      isSecure: false,
      hosts: ['10.0.0.1:8080'],
      origin: 'http://10.0.0.1:8080',
    });
    expect(read('192.0.2.1', true).origin).toBe('https://10.0.0.1:8080');
  });
});

describe('the cookie of a session', () => {
  const tls = { isSecure: true, origin: 'https://kiosks.example:8443' };
  it.each([
    [tls, '__Host-dragoman-8443=v; Path=/; Max-Age=604800; HttpOnly; SameSite=Strict; Secure'],
    [
      { isSecure: false, origin: 'http://127.0.0.1:9000' },
      'dragoman-loopback-9000=v; Path=/; Max-Age=604800; HttpOnly; SameSite=Strict',
    ],
  ])('at %j', (reached, text) => {
    expect(setCookie('v', reached, 604_800)).toBe(text);
    expect(readCookie(`other=1; ${text.split(';')[0]}; another=2`, reached)).toBe('v');
  });

  it('is read by its whole name', () => {
    for (const header of [
      'x__Host-dragoman-8443=v',
      '__Host-dragoman-84=v',
      '__Host-dragoman-8443',
      '',
      undefined,
    ])
      expect(readCookie(header, tls)).toBeNull();
  });
});
