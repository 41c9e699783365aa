import { describe, expect, it } from 'vitest';
import { judge, makeTones, RATE_HZ } from './tones.ts';

describe('the judge of tones', () => {
  it('notices 20 samples that are lost within a tone', () => {
    const code = makeTones(6);
    const at = (4050 * RATE_HZ) / 1000;
    const cut = new Int16Array(code.length - 20);
    cut.set(code.subarray(0, at));
    cut.set(code.subarray(at + 20), at);
    expect(judge(cut)).toMatchObject({ phaseJumps: 1 });
  });

  it('finds no tones in silence', () => {
    expect(judge(new Int16Array(RATE_HZ))).toMatchObject({ tones: [], seconds: 0 });
  });
});
