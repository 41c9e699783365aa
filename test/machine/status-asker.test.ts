import { expect, it } from 'vitest';
import { ASK_AGAIN_MS, createStatusAsker, RETAINED_WITHIN_MS } from '../../src/machine/status-asker.ts';
import { createVirtualClock } from '../virtual-clock.ts';

function start() {
  const clock = createVirtualClock();
  const asked: number[] = [];
  const asker = createStatusAsker(clock, () => asked.push(clock.now()));
  return { clock, asked, asker };
}

it('asks once when no retained message has come in time', async () => {
  const { clock, asked, asker } = start();
  const upAt = clock.now();
  asker.up();
  await clock.elapse(RETAINED_WITHIN_MS - 1);
  expect(asked).toEqual([]);
  await clock.elapse(3_600_000);
  expect(asked).toEqual([upAt + RETAINED_WITHIN_MS]);
  expect(clock.armed).toBe(0);
});

it('does not ask when a retained message comes just in time, but does on the next connection', async () => {
  const { clock, asked, asker } = start();
  asker.up();
  await clock.elapse(RETAINED_WITHIN_MS - 1);
  asker.heardRetained();
  await clock.elapse(60_000);
  expect(asked).toEqual([]);
  asker.down();
  asker.up();
  await clock.elapse(RETAINED_WITHIN_MS);
  expect(asked).toHaveLength(1);
});

it('waits anew when the connection flaps, and leaves no timer when it is down', async () => {
  const { clock, asked, asker } = start();
  for (let time = 0; time < 5; time += 1) {
    asker.up();
    await clock.elapse(RETAINED_WITHIN_MS - 1);
  }
  expect(asked).toEqual([]);
  asker.down();
  expect(clock.armed).toBe(0);
  await clock.elapse(60_000);
  expect(asked).toEqual([]);
});

it('asks every ten minutes at most when the broker cuts the connection at each question', async () => {
  const { clock, asked, asker } = start();
  let cuts = 0;
  asker.up();
  while (clock.now() < 1_300_000) {
    await clock.elapse(1000);
    if (asked.length === cuts) continue;
    cuts = asked.length;
    asker.down();
    asker.up();
  }
  expect(asked).toHaveLength(3);
  const gaps = asked.slice(1).map((at, index) => at - (asked[index] ?? 0));
  for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(ASK_AGAIN_MS);
});

it('asks ten minutes after the last question when the connection then stays up', async () => {
  const { clock, asked, asker } = start();
  asker.up();
  await clock.elapse(RETAINED_WITHIN_MS);
  asker.down();
  asker.up();
  await clock.elapse(ASK_AGAIN_MS - 1);
  expect(asked).toHaveLength(1);
  await clock.elapse(1);
  expect(asked).toHaveLength(2);
});
