import { describe, expect, it } from 'vitest';
import { CAPACITY_MS } from '../../../src/sound/playback-buffer/limits.ts';
import { fc } from '../../properties.ts';
import { createDevice, msOf, ramp } from './device.ts';

const happening = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ what: fc.constant('write' as const), ms: fc.integer({ min: 0, max: 3000 }) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ what: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 2500 }) }),
  },
  fc.record({
    what: fc.constantFrom('flush', 'gone', 'failed', 'open', 'unsure', 'settled', 'dry', 'still', 'moves'),
  }),
  fc.record({ what: fc.constantFrom('on', 'off', 'restart', 'lies') }),
);

type Device = ReturnType<typeof createDevice>;

/** Any events of a device in any order, even impossible ones. */
function happen(device: Device, { what, ms = 0 }: { what: string; ms?: number }): void {
  const { post, clock, open, stand, sight } = device;
  const acts: Readonly<Record<string, () => void>> = {
    write: () => void device.write(ramp(ms)),
    wait: () => clock.advance(ms),
    flush: () => void post({ type: 'flush' }),
    gone: () => void post({ type: 'gone' }),
    failed: () => void post({ type: 'failed' }),
    open: () => open({ afterFault: clock.now() % 2 === 0 }),
    unsure: () => open({ isSure: false }),
    settled: () => void post({ type: 'settled' }),
    dry: () => void post({ type: 'ran_dry', ms: 70, sight: sight() }),
    still: () => stand(true),
    moves: () => stand(false),
    on: () => void post({ type: 'run_on', on: true, restart: false }),
    off: () => void post({ type: 'run_on', on: false, restart: false }),
    restart: () => void post({ type: 'run_on', on: true, restart: true }),
    lies: () => void post({ type: 'look', sight: { taken: 10_000_000, pipeBytes: -1 } }),
  };
  acts[what]?.();
}

/** Tests this number of sequences. */
export function describeAnyOrder(numRuns: number): void {
  describe('the playback buffer, with any events in any order', () => {
    it('stays within its bounds, reports when a write is heard, and plays again with the next device', () => {
      fc.assert(
        fc.property(fc.array(happening, { maxLength: 25 }), fc.boolean(), (happenings, isMute) => {
          const device = createDevice({ isMute });
          for (const one of happenings) {
            happen(device, one);
            const { pending, written, stage } = device.state();
            expect(stage).toBeNull();
            expect(msOf(pending.waitingBytes)).toBeLessThanOrEqual(CAPACITY_MS + 3000);
            expect(pending.waiting.reduce((sum, { byteLength }) => sum + byteLength, 0)).toBe(
              pending.waitingBytes,
            );
            expect(Number.isFinite(written.from) && written.until >= written.from).toBe(true);
            expect(device.clock.armed).toBeLessThanOrEqual(1);
          }
          // In any state, the next device plays what is written then, and comes to rest.
          device.post({ type: 'run_on', on: false, restart: false });
          device.post({ type: 'flush' });
          device.post({ type: 'gone' });
          device.stand(false);
          device.open();
          device.clock.advance(1000);
          const before = device.audible().length;
          const { until } = device.write(ramp(200));
          device.clock.advance(until - device.clock.now() + 2000);
          expect(device.audible().length - before).toBe(200 * 24);
          expect(device.state().sounding).toBe(false);
          expect(device.clock.armed).toBe(0);
        }),
        { numRuns },
      );
    });
  });
}
