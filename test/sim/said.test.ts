import { describe, expect, it } from 'vitest';
import { createSaidAccount, type Playing } from './said.ts';
import { createViolations } from './violations.ts';

const upTo = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, index) => from + index);

function account(isExact = true) {
  const violations = createViolations(() => 0);
  const said = createSaidAccount(violations, isExact);
  let id = 0;
  return {
    said,
    /** @param share share of the sound that is played */
    play(ticks: readonly number[], share = 1, lacksEnd = false): void {
      const playing: Playing = {
        id: ++id,
        stream: 'a',
        language: 'es',
        ticks,
        lengthTicks: ticks.length,
        playedTicks: 0,
        lacksEnd,
      };
      said.begin(playing);
      said.played(playing, Math.round(ticks.length * share));
    },
    twice: () => violations.list.filter(({ rule }) => rule === 'twice').length,
  };
}

describe('speech that is spoken twice', () => {
  it('is reported unless the first rendering was cut off early', () => {
    const whole = account();
    whole.play(upTo(0, 100));
    whole.play(upTo(0, 100));
    expect(whole.twice()).toBe(1);
    const cut = account();
    cut.play(upTo(0, 100), 0.5);
    cut.play(upTo(0, 100));
    expect(cut.twice()).toBe(0);
  });

  it('is only counted when the service sends no ids or times', () => {
    const { play, twice, said } = account(false);
    play(upTo(0, 100));
    play(upTo(0, 100));
    expect([twice(), said.repeatedTicks]).toEqual([0, 84]);
  });

  it('is only counted when the service did not mark the end of the first rendering', () => {
    const { play, twice, said } = account();
    play(upTo(0, 100), 1, true);
    play(upTo(0, 100));
    expect([twice(), said.repeatedTicks]).toEqual([0, 84]);
  });

  it('is reported after another rendering that was cut off early', () => {
    const { play, twice } = account();
    play(upTo(0, 100));
    play(upTo(92, 200), 0.1);
    expect(twice()).toBe(0);
    play(upTo(50, 200));
    expect(twice()).toBe(1);
  });

  it('is not reported when it is half a syllable at a cut', () => {
    for (const [overlap, violations] of [
      [8, 0],
      [9, 1],
    ] as const) {
      const { play, twice } = account();
      play(upTo(0, 100));
      play(upTo(100 - overlap, 200));
      expect(twice()).toBe(violations);
    }
  });
});
