import { describe, expect, it } from 'vitest';
import { timeSources } from '../../src/core/time-sources.ts';

describe('servers that give the time', () => {
  it("are the fully named hosts of streams, and the broker's host", () => {
    expect(
      timeSources('mqtts://broker.example:8883', ['a.example', 'b.example:8443', '*.c.example']),
    ).toEqual(['https://a.example/', 'https://b.example:8443/', 'https://broker.example/']);
    expect(timeSources('wss://broker.example:9001/mqtt', ['broker.example:9001'])).toEqual([
      'https://broker.example:9001/',
    ]);
    expect(timeSources('mqtts://[2001:db8::1]:8883', [])).toEqual(['https://[2001:db8::1]/']);
  });

  it('are empty when no address is encrypted', () => {
    expect(timeSources('mqtt://127.0.0.1:1883', [])).toEqual([]);
    expect(timeSources('no address', ['*.c.example'])).toEqual([]);
  });
});
