import { expect, it } from 'vitest';
import { sleep } from '../../src/adapters/sleep.ts';
import { createVirtualClock } from '../virtual-clock.ts';

it('waits as long as it was told', async () => {
  const clock = createVirtualClock();
  let isOver = false;
  void sleep(clock, 2000).then(() => {
    isOver = true;
  });
  await clock.elapse(1999);
  expect(isOver).toBe(false);
  await clock.elapse(1);
  expect(isOver).toBe(true);
});
