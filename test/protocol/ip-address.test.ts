import { describe, expect, it } from 'vitest';
import { isAddress, networkOf, plainAddress } from '../../src/protocol/ip-address.ts';

describe('an address', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::FFFF:c000:207', '192.0.2.7'],
    ['0:0:0:0:0:ffff:c000:0207', '192.0.2.7'],
    ['[::ffff:192.0.2.7]', '192.0.2.7'],
    ['::ffff:255.1.0.128', '255.1.0.128'],
    ['2001:0DB8:0000:0000:0000:0000:0000:0001', '2001:db8::1'],
    ['2001:db8::0:1', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['::1', '::1'],
    // Not mapped: these are addresses of IPv6.
    ['::fffe:c000:207', '::fffe:c000:207'],
    ['1::ffff:c000:207', '1::ffff:c000:207'],
    ['not an address', 'not an address'],
    ['1::2::3', '1::2::3'],
    ['', ''],
  ])('%s is written %s', (address, plain) => {
    expect(plainAddress(address)).toBe(plain);
  });

  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
    ['2001:db8::1:2:3:4', '2001:db8:0:0::/64'],
    ['2001:db8::', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['1:2:3:4:5:6::', '1:2:3:4::/64'],
    ['unknown', 'unknown'],
  ])('%s belongs to the network %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });

  it.each([
    ['127.0.0.1', true],
    ['[::1]', true],
    ['2001:db8::1', true],
    ['256.0.0.1', false],
    ['1.2.3', false],
    ['kiosks.example', false],
    ['a:b', false],
    ['', false],
  ])('%s is one: %s', (text, isOne) => {
    expect(isAddress(text)).toBe(isOne);
  });
});
