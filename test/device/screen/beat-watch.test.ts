import { describe, expect, it } from 'vitest';
import { beginWatch, isFrozen, takeBeat } from '../../../src/device/screen/beat-watch.ts';

const START = 100_000;
/** What the agent says at each second after the start of the browser; returns the seconds at which the page counts as frozen. */
function frozenAt(until: number, beat: (second: number) => number | null | 'no answer'): number[] {
  let watch = beginWatch(START);
  const frozen: number[] = [];
  for (let second = 1; second <= until; second++) {
    const now = START + second * 1000;
    const ageS = beat(second);
    const said = ageS === 'no answer' ? null : { ageMs: ageS === null ? null : ageS * 1000 };
    watch = takeBeat(watch, said, now);
    if (isFrozen(watch, now)) frozen.push(second);
  }
  return frozen;
}

describe('the watch over the beats of the page', () => {
  it('finds the page frozen when the last beat is more than 20 s old', () => {
    expect(frozenAt(61, (second) => Math.max(0, second - 40))[0]).toBe(61);
    expect(frozenAt(60, (second) => Math.max(0, second - 40))).toEqual([]);
  });

  it('gives a browser a minute for its first beat', () => {
    expect(frozenAt(62, () => null)).toEqual([61, 62]);
    expect(frozenAt(60, () => null)).toEqual([]);
  });

  it('does not take the beat of an earlier browser for one of this', () => {
    expect(frozenAt(61, (second) => second + 1)).toEqual([61]);
  });

  it('excuses the page while the agent does not answer, and until it has started again', () => {
    const restarted = (second: number) => (second < 10 ? 0 : second < 100 ? 'no answer' : null);
    expect(frozenAt(119, restarted)).toEqual([]);
    expect(frozenAt(120, restarted)).toEqual([120]);
  });
});
