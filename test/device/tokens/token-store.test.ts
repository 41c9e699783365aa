import { describe, expect, it } from 'vitest';
import { AddressError } from '../../../src/device/tokens/stream-address.ts';
import { createTokenStore } from '../../../src/device/tokens/token-store.ts';

const TOKEN = 'tok_SECRET-0123456789';
const secretAt = (urlTemplate: string) => ({ token: TOKEN, session: 'session-id-that-is-long', urlTemplate });
/** Hashes in turn. */
function open(hosts: readonly string[], ...hashes: string[]) {
  return createTokenStore(() => hashes.shift() ?? 'none-left', hosts);
}

describe('the store of tokens', () => {
  it('gives a token to each connection of its grant with a fresh address, until it is forgotten', () => {
    const store = open(['stream.example'], 'h1', 'h2');
    expect(store.keep('g', secretAt('wss://stream.example/{random_hash}/v1'))).toBe('stream.example');
    expect(store.target('g')).toEqual({ address: 'wss://stream.example/h1/v1', token: TOKEN });
    expect(store.target('g')).toEqual({ address: 'wss://stream.example/h2/v1', token: TOKEN });
    store.forget('another');
    expect(store.target('another')).toBeNull();
    store.forget('g');
    expect(store.target('g')).toBeNull();
    // The service may still quote it.
    expect(store.hide(`bad token ${TOKEN}`)).not.toContain(TOKEN);
  });

  it('gives no token for an address that it refuses, and hides that token all the same', () => {
    const store = open(['stream.example'], 'h1');
    expect(() => store.keep('g', secretAt(`wss://${TOKEN}.evil.example/`))).toThrow(AddressError);
    expect(store.target('g')).toBeNull();
    expect(store.hide(`leads to ${TOKEN}.evil.example`)).toBe('leads to [redacted].evil.example');
  });

  it('gives no token when the hash in the host name leads elsewhere', () => {
    const store = open(['check.example'], 'evil', 'check', '');
    store.keep('g', secretAt('wss://{random_hash}.example/v1'));
    expect(store.target('g')).toBeNull();
    expect(store.target('g')?.address).toBe('wss://check.example/v1');
    expect(store.target('g')).toBeNull();
  });
});
