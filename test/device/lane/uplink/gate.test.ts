import { describe, expect, it } from 'vitest';
import { type GateInput, judge } from '../../../../src/device/lane/uplink/gate.ts';
import type { EchoMode } from '../../../../src/sound/echo-guard.ts';

const CHUNK_MS = 320;
const HEARD = { from: 10_000, until: 12_000 };

function gate(given: Partial<GateInput> = {}): (capturedAt: number) => string {
  const input: GateInput = { muted: false, echo: 'half-duplex', heard: [HEARD], tailMs: 300, ...given };
  return (capturedAt) => judge(input, capturedAt, CHUNK_MS);
}

describe('gate', () => {
  it('is open when the loudspeaker is silent', () => {
    expect(gate({ heard: [] })(11_000)).toBe('open');
  });

  it.each([
    [9000, 'open', 'long before the sound'],
    [10_000, 'open', 'ends as the sound begins'],
    [10_001, 'echo', 'reaches a millisecond into the sound'],
    [11_000, 'echo', 'in the middle of it'],
    [12_000, 'echo', 'ends with it'],
    [12_300, 'echo', 'in the tail'],
    [12_619, 'echo', 'began a millisecond before the end of the tail'],
    [12_620, 'open', 'began when the tail was over'],
    [20_000, 'open', 'long after'],
  ])('half-duplex: a chunk captured by %i is %s (%s)', (capturedAt, decision) => {
    expect(gate()(capturedAt)).toBe(decision);
  });

  it('accepts a tail of 0 ms', () => {
    expect(gate({ tailMs: 0 })(12_319)).toBe('echo');
    expect(gate({ tailMs: 0 })(12_320)).toBe('open');
  });

  it('closes for each stretch of sound, and opens between them', () => {
    const judged = gate({ heard: [HEARD, { from: 14_000, until: 15_000 }] });
    expect([11_000, 13_000, 14_500, 16_000].map(judged)).toEqual(['echo', 'open', 'echo', 'open']);
  });

  it.each<EchoMode>(['cancel', 'off'])('stays open in the mode %s', (echo) => {
    expect(gate({ echo })(11_000)).toBe('open');
  });

  it.each<EchoMode>(['half-duplex', 'cancel', 'off'])('mute closes it in the mode %s', (echo) => {
    expect(gate({ echo, muted: true })(11_000)).toBe('muted');
    expect(gate({ echo, muted: true, heard: [] })(50_000)).toBe('muted');
  });
});
