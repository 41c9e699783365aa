import { expect, it } from 'vitest';
import { openHearing } from '../../../src/backend/issuing/request-intake.ts';
import type { BusListener } from '../../../src/ports/bus.ts';
import { backendSelfTest } from '../../../src/protocol/mqtt/topics.ts';
import { createVirtualClock } from '../../virtual-clock.ts';

const PREFIX = 'dragoman/v1';

function startHearing() {
  const clock = createVirtualClock(0);
  const warnings: string[] = [];
  let listener: BusListener | null = null;
  const ignore = (): void => {};
  openHearing({
    openBus(_options, given) {
      listener = given;
      return { urgent: ignore, publish: ignore, close: async () => {} } as never;
    },
    prefix: PREFIX,
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
  const broker = () => listener as unknown as BusListener;
  return {
    clock,
    warnings,
    away: () => broker().down('unreachable', 'cannot reach it'),
    back: () => broker().up(1, 5),
    /** The broker delivers the backend's test request, and the answer to it. */
    deliver: () =>
      broker().message({
        topic: backendSelfTest(PREFIX).response,
        payload: '{"id":"x"}',
        retain: false,
        properties: {},
      }),
  };
}

it('warns once and then every 10 minutes while the broker is away, and at once after a return', () => {
  const { clock, warnings, away, back } = startHearing();
  for (let s = 0; s <= 1200; s += 4) {
    away();
    clock.advance(4000);
  }
  expect(warnings).toHaveLength(3);
  back();
  away();
  expect(warnings).toHaveLength(4);
});

it('does not warn when requests arrive on the shared subscription', () => {
  const { warnings, back, deliver } = startHearing();
  back();
  deliver();
  expect(warnings).toEqual([]);
});

it('warns of a broker without shared subscriptions once, however often it connects', async () => {
  const { clock, warnings, away, back, deliver } = startHearing();
  back();
  // Three test requests, 2 s each, are in vain.
  await clock.elapse(6000);
  for (let connections = 0; connections < 3; connections += 1) {
    back();
    deliver();
    away();
  }
  expect(warnings.filter((text) => text.includes('has no shared subscriptions'))).toHaveLength(1);
});
