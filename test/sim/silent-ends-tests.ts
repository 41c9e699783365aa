import { describe, expect, it } from 'vitest';
import { runSeed } from './run-seed.ts';
import { withService } from './terms.ts';

const faults = ['zombies_answering'];

export function testSilentMinutes(seed: number, hours: number): void {
  describe('a service that answers only get_task for minutes', () => {
    it('loses speech, and the device counts it', async () => {
      const { violations, excusedS } = await runSeed(seed, hours, {
        faults,
        changeTerms: (drawn) => withService(drawn, 'a'),
      });
      expect(violations.map(({ rule, text }) => `${rule}: ${text}`)).toEqual([]);
      expect(excusedS.outage).toBeGreaterThan(10);
    });
  });
}
