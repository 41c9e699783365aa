import { expect, it } from 'vitest';
import { isPlaying } from '../../src/device/playout/playout.ts';
import { QUIET_DAY } from './day.ts';
import { createWorld } from './world.ts';

const HOUR_MS = 3_600_000;

/** Tests the shipped agent with the emulator's core as the service, and visitors who come and go. */
export function testNotice(seeds: readonly number[], hours: number): void {
  it.each(seeds)(
    'is spoken once for each visit, never over a visitor who can be heard: seed %i',
    async (seed) => {
      const lane = { ...QUIET_DAY.lane, playback: { driver: 'alsa', device: 'default' }, earcons: false };
      let begun = 0;
      let asked = 0;
      let spokenOver = 0;
      let ended = 0;
      const outcomes: string[] = [];
      const world = createWorld(
        seed,
        { ...QUIET_DAY, lane },
        {
          observe({ before, after, effects }) {
            if (before.conversation === null && after.conversation !== null) begun += 1;
            if (before.conversation !== null && after.conversation === null) ended += 1;
            for (const effect of effects) {
              if (effect.type === 'said') outcomes.push(effect.outcome);
              if (effect.type !== 'say') continue;
              asked += 1;
              // While a translation plays, half-duplex is deaf, and the visitor is spoken over already.
              const isDeaf = isPlaying(after.playout, world.clock.now());
              if (world.visitors.isTalking && !isDeaf) spokenOver += 1;
            }
          },
        },
      );
      world.device.start();
      await world.clock.run(hours * HOUR_MS);
      world.judge();
      expect(begun).toBeGreaterThan(2);
      expect(ended).toBeGreaterThanOrEqual(begun - 1);
      expect({ asked, spokenOver }).toEqual({ asked: begun, spokenOver: 0 });
      expect(new Set(outcomes)).toEqual(new Set(['played']));
      expect(world.violations.list).toEqual([]);
    },
  );
}
