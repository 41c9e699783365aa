import { describe, expect, it } from 'vitest';
import {
  asciiHost,
  hostSchema,
  isExposedAddress,
  isListed,
  isMulticastName,
  readAddress,
} from '../../src/protocol/host-name.ts';

const listed = (address: string, ...hosts: string[]): boolean => isListed(new URL(address), hosts);

describe('a list of hosts', () => {
  it.each([
    ['wss://stream.example/x', 'stream.example'],
    ['wss://STREAM.example:443/', 'stream.example'],
    ['wss://stream.example/', 'Stream.EXAMPLE'],
    ['wss://stream.example/', 'stream.example:443'],
    ['wss://stream.example:8443/', 'stream.example:8443'],
    ['wss://a.stream.example/', '*.stream.example'],
    ['wss://a.b.stream.example/', '*.stream.example'],
    ['wss://a.stream.example:99/', '*.stream.example:99'],
    ['wss://bücher.example/', 'xn--bcher-kva.example'],
    ['wss://xn--bcher-kva.example/', 'BÜCHER.example'],
    ['wss://192.0.2.7/', '192.0.2.7'],
    ['wss://[2001:db8::1]:8443/', '[2001:DB8::1]:8443'],
    ['ws://127.0.0.1:8080/', '127.0.0.1:8080'],
    ['ws://localhost/', 'localhost:80'],
  ])('contains %s as %s', (address, entry) => {
    expect(hostSchema.safeParse(entry).success).toBe(true);
    expect(listed(address, 'another.example', entry)).toBe(true);
  });

  it.each([
    ['wss://stream.example.evil.example/', 'stream.example'],
    ['wss://evilstream.example/', 'stream.example'],
    ['wss://evilstream.example/', '*.stream.example'],
    ['wss://a.stream.example.evil.example/', '*.stream.example'],
    ['wss://stream.example/', '*.stream.example'],
    ['wss://.stream.example/', 'stream.example'],
    ['wss://stream.example./', 'stream.example'],
    ['wss://stream.example@evil.example/', 'stream.example'],
    ['wss://evil.example/stream.example', 'stream.example'],
    ['wss://evil.example\\.stream.example/', '*.stream.example'],
    ['wss://stream.example:8443/', 'stream.example'],
    ['wss://stream.example/', 'stream.example:8443'],
    ['ws://stream.example/', 'stream.example'],
    ['wss://192.0.2.70/', '192.0.2.7'],
    ['wss://ѕtream.example/', 'stream.example'],
    ['ws://127.0.0.1:8081/', '127.0.0.1:8080'],
  ])('does not contain %s as %s', (address, entry) => {
    expect(hostSchema.safeParse(entry).success).toBe(true);
    expect(listed(address, entry)).toBe(false);
  });

  it.each([
    '',
    '*',
    '*.',
    'wss://stream.example',
    'stream.example/x',
    'stream.example:',
    'stream.example:0',
    'stream.example:65536',
    'a*.example',
    '*.*.example',
    'stream.*',
    'user@stream.example',
    'stream example',
    '*.192.0.2.7',
    '127.1',
    '0x7f.0.0.1',
    '2001:db8::1',
    '[2001:db8:0:0:0:0:0:1]',
    'stream.example?',
    'a%2eb',
  ])('rejects the entry %j', (entry) => {
    expect(hostSchema.safeParse(entry).success).toBe(false);
  });

  it.each([
    ['mqtt://broker.example', true],
    ['ws://broker.example/mqtt', true],
    ['http://10.0.0.1:8080', true],
    ['mqtt://127.0.0.1.evil.example', true],
    ['mqtt://localhost.evil.example', true],
    ['mqtt://localhost@evil.example', true],
    ['mqtts://broker.example', false],
    ['wss://broker.example', false],
    ['https://api.example', false],
    ['mqtt://127.0.0.1:1883', false],
    ['mqtt://LOCALHOST', false],
    ['http://[::1]:8080', false],
    ['ws://127.9.9.9', false],
    ['not an address', false],
  ])('%s leaves this machine without TLS: %s', (address, isExposed) => {
    expect(isExposedAddress(address)).toBe(isExposed);
  });
});

describe('an address', () => {
  it.each(['mqtt', 'mqtts', 'ws', 'wss', 'http', 'https'])('has its host in ASCII with %s', (scheme) => {
    expect(readAddress(`${scheme}://müsli.example:99/x?y`)?.href).toBe(
      `${scheme}://xn--msli-0ra.example:99/x?y`,
    );
    expect(readAddress(`${scheme}://BROKER.example`)?.hostname).toBe('broker.example');
    expect(readAddress(`${scheme}://[2001:DB8::1]:99`)?.host).toBe('[2001:db8::1]:99');
    expect(readAddress(`${scheme}://192.0.2.7`)?.hostname).toBe('192.0.2.7');
  });

  it('is refused when its host is not a host', () => {
    expect(['mqtts://1.2.3.4.5', 'mqtts://a%20b.example', 'broker', ''].map(readAddress)).toEqual(
      Array(4).fill(null),
    );
    expect(['a b', 'a\nb', 'a/b', 'u@a', 'a:1', ''].map(asciiHost)).toEqual(Array(6).fill(null));
  });

  it('is not exposed when another writing of its host is this machine', () => {
    expect(['mqtt://LOCALHOST', 'mqtt://127.1', 'mqtt://ｌocalhost'].map(isExposedAddress)).toEqual([
      false,
      false,
      false,
    ]);
  });

  it('is looked up by multicast DNS when it ends in .local', () => {
    expect(['broker.local', 'BROKER.LOCAL.', 'local', 'local.example'].map(isMulticastName)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});
