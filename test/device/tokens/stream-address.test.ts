import { describe, expect, it } from 'vitest';
import { AddressError, streamAddress } from '../../../src/device/tokens/stream-address.ts';

const ANY: readonly string[] = [];
const PATH = '/streaming-api/{random_hash}/v1/speech-to-speech/stream';

describe('the address of a stream', () => {
  it('has the hash in the path (docs/service.md 4.7)', () => {
    const address = streamAddress(`wss://stream.example${PATH}`, 'abc-123', ANY);
    expect(address.href).toBe('wss://stream.example/streaming-api/abc-123/v1/speech-to-speech/stream');
  });

  it('fills in the hash at any position', () => {
    expect(streamAddress('wss://{random_hash}.example/{random_hash}', 'h1', ANY).href).toBe(
      'wss://h1.example/h1',
    );
  });

  it("is a legacy session's address unchanged, with its own parameters", () => {
    const address = 'wss://legacy.example/ws?room=5';
    expect(streamAddress(address, 'unused', ANY).href).toBe(address);
  });

  it.each(['ws://localhost:8080', 'ws://127.0.0.1:1', 'ws://127.1.2.3', 'ws://[::1]:9', 'ws://LOCALHOST'])(
    'may go without TLS inside this machine: %s',
    (origin) => {
      expect(streamAddress(`${origin}/s`, 'h', ANY).pathname).toBe('/s');
    },
  );

  it('names the fault and the fix for a "#", at which the WebSocket client throws', () => {
    expect(() => streamAddress('wss://stream.example/{random_hash}/s#x', 'h', ANY)).toThrow(
      /holds a "#".*remove it/,
    );
  });

  it.each([
    'ws://stream.example/s',
    'ws://127.0.0.1.evil.example/s',
    'ws://localhost.evil.example/s',
    'ws://localhost@evil.example/s',
    'ws://notlocalhost/s',
    'ws://10.0.0.1/s',
    'ws://[::2]/s',
    'http://localhost/s',
    'https://stream.example/s',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'stream.example/s',
    'wss://stream.example/s#part',
    'wss://stream.example/{random_hash}#',
    'ws://localhost/s#',
    'wss://stream.example/s\r\nx: y',
    'wss://stream.exa\tmple/s',
    'wss://stream.example/s\n',
    ' wss://stream.example/s',
    'wss://stream.example/a b',
    'wss://stream.example/\u0000',
    'wss://user:hunter2@stream.example/s',
    'wss://user@stream.example/s',
    'wss://:hunter2@stream.example/s',
    '',
    'wss://',
  ])('does not send a token to %j', (template) => {
    let said = '';
    try {
      streamAddress(template, 'h', ANY);
    } catch (error) {
      expect(error).toBeInstanceOf(AddressError);
      said = String(error);
    }
    expect(said).not.toBe('');
    if (template.length > 6) expect(said).not.toContain(template);
  });
});

describe('the hosts listed by the owner', () => {
  it('are the only ones that get a token', () => {
    const to = (host: string, hosts: readonly string[]) => () =>
      streamAddress(`wss://${host}${PATH}`, 'h', hosts).host;
    expect(to('stream.example', ['stream.example'])()).toContain('stream.example');
    expect(to('evil.example', ['stream.example'])).toThrow(
      /leads to evil\.example, which is not among service\.hosts/,
    );
    expect(to('stream.example:8443', ['stream.example'])).toThrow(AddressError);
    expect(to(`${'x.'.repeat(120)}example`, ['stream.example'])).toThrow(/^.{1,230}$/);
  });
});
