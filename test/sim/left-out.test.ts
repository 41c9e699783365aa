import { describe, expect, it } from 'vitest';
import { runSeed } from './run-seed.ts';
import { withMessages } from './spoiled.ts';

const [SEED, HOURS] = [90_000_000, 0.4];
const faults = ['sentence_left_out'];

describe('a service that gives interim texts of a sentence and no more', () => {
  it('loses nothing of which the device does not tell', async () => {
    const { violations, excusedS } = await runSeed(SEED, HOURS, { faults });
    expect(violations.map(({ rule, text }) => `${rule}: ${text}`)).toEqual([]);
    expect(excusedS.left_out).toBeGreaterThan(10);
  });

  it('is found out where the device does not hear of them', async () => {
    const spoil = withMessages(({ message_type: type }) => type !== 'partial_transcription');
    const { violations } = await runSeed(SEED, HOURS, { faults, spoil });
    expect(violations.map(({ rule, text }) => `${rule}: ${text}`)).toContainEqual(
      expect.stringMatching(/^told: more than \d+ ms were left out, and 0 ms are told/),
    );
  });
});
