import { expect, it } from 'vitest';
import { runSeed } from './run-seed.ts';
import { withMessages } from './spoiled.ts';
import type { Violation } from './violations.ts';

const SEED = 90_000_000;
/** Of a world that is over as soon as the device is found out. */
const HOURS = 0.4;
const faults = ['sentence_left_out'];
const UNTOLD = /^more than \d+ ms were left out, and 0 ms are told/;

/** A world whose service gives interim texts of a sentence now and then and no more, for this many hours. */
export function testLeftOut(hours: number): void {
  it('loses nothing of which the device does not tell', async () => {
    const { violations, excusedS } = await runSeed(SEED, hours, { faults });
    expect(violations.map(({ rule, text }) => `${rule}: ${text}`)).toEqual([]);
    expect(excusedS.left_out).toBeGreaterThan(10);
  });

  it('is found out where the device does not hear of them', async () => {
    const spoil = withMessages(({ message_type: type }) => type !== 'partial_transcription');
    const isEnough = ({ rule, text }: Violation): boolean => rule === 'told' && UNTOLD.test(text);
    const { violations } = await runSeed(SEED, HOURS, { faults, spoil, isEnough });
    expect(violations.filter(isEnough)).not.toEqual([]);
  });
}
