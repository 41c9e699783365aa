import { expect, it } from 'vitest';
import { watchHeadsetPlug } from '../../../src/adapters/headset/plug.ts';
import type { RunProgram } from '../../../src/ports/machine.ts';
import { createVirtualClock } from '../../virtual-clock.ts';

it('a plug whose card reports changes all the time is read ten times a second at most', async () => {
  const clock = createVirtualClock();
  let readings = 0;
  let change = (): void => {};
  const run: RunProgram = async () => {
    readings += 1;
    // Ends the reading, so that a failure is one.
    if (readings < 100) change();
    return { ok: true, text: ': values=on' };
  };
  const seen: boolean[] = [];
  const watch = watchHeadsetPlug(
    { device: 'plughw:CARD=NoSuchCard', detect: 'Headphone Jack' },
    {
      clock,
      run,
      whenCardsChange(listener) {
        change = listener;
        return () => {};
      },
    },
  )({ changed: (isIn) => void seen.push(isIn), found() {}, lost() {} });
  await clock.elapse(950);
  watch.close();
  expect(seen).toEqual([true]);
  expect(readings).toBe(10);
  await clock.elapse(1000);
  expect(readings).toBe(10);
});
