import { describe, expect, it } from 'vitest';
import { runSeed } from './run-seed.ts';

const faults = ['zombies_answering'];

export function testSilentMinutes(seed: number, hours: number): void {
  describe('a service that tells its task and nothing else, for minutes', () => {
    it('swallows nothing of which the device does not tell when it is over', async () => {
      let settledMs = 0;
      const { violations, excusedS } = await runSeed(seed, hours, {
        faults,
        observe({ before, after }) {
          if (before.doubtful === null || after.doubtful !== null) return;
          settledMs += (after.backlog.accounts.lost - before.backlog.accounts.lost) * 320;
        },
      });
      expect(violations.map(({ rule, text }) => `${rule}: ${text}`)).toEqual([]);
      expect(excusedS.late_break).toBeGreaterThan(10);
      // It has met with what it is about.
      expect(settledMs).toBeGreaterThan(5000);
    });
  });
}
