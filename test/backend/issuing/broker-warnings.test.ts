import { expect, it } from 'vitest';
import { openHearing } from '../../../src/backend/issuing/request-intake.ts';
import type { BusListener } from '../../../src/ports/bus.ts';
import { createVirtualClock } from '../../virtual-clock.ts';

it('warns once and then every 10 minutes while the broker is away, and at once after a return', () => {
  const clock = createVirtualClock(0);
  const warnings: string[] = [];
  let listener: BusListener | null = null;
  const ignore = (): void => {};
  openHearing({
    openBus(_options, given) {
      listener = given;
      return { urgent: ignore, publish: ignore, close: async () => {} } as never;
    },
    prefix: 'dragoman/v1',
    shareGroup: 'g',
    clock,
    randomId: () => 'x',
    message: ignore,
    listening: ignore,
    log: {
      trace: ignore,
      debug: ignore,
      info: ignore,
      error: ignore,
      warn: (_fields, text) => warnings.push(text),
    },
  });
  const away = () => (listener as BusListener | null)?.down('unreachable', 'cannot reach it');
  for (let s = 0; s <= 1200; s += 4) {
    away();
    clock.advance(4000);
  }
  expect(warnings).toHaveLength(3);
  (listener as BusListener | null)?.up(1, 5);
  away();
  expect(warnings).toHaveLength(4);
});
