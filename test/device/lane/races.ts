import { describe, expect, it } from 'vitest';
import { LANE_DEFAULTS } from '../../../src/device/lane/state/lane-options.ts';
import { limit, ready } from '../../service-events.ts';
import { fork } from './fork.ts';
import type { LaneHarness } from './lane-harness.ts';
import { SITUATIONS, situation } from './situations.ts';

/** Events that come close together in practice. Each concerns the lane as it is at that moment. */
const EVENTS: Readonly<Record<string, (lane: LaneHarness) => void>> = {
  granted: (lane) => {
    const id = lane.all('request_token').at(-1)?.id ?? 'unheard-of';
    lane.step({ type: 'granted', grant: lane.grantFor(id, { maxDurationMs: 60_000 }) });
  },
  opened: (lane) => lane.step({ type: 'opened', stream: newest(lane) }),
  refused: (lane) => lane.refuse('session_limit_reached', { status: 409 }, newest(lane)),
  'newest ended': (lane) => lane.end('cut', {}, newest(lane)),
  'hearing ended': (lane) => lane.end('cut', {}, hearing(lane)),
  'old session ended': (lane) => lane.end('closed', {}, lane.state.oldSession?.stream.id ?? 1),
  'task runs': (lane) => lane.says(ready(), newest(lane)),
  'limit reached': (lane) => lane.says(limit('max_duration'), hearing(lane)),
  revoked: (lane) => lane.says(limit('revoked'), hearing(lane)),
  'next timer': (lane) =>
    lane.pass(Math.max(0, Math.min(...lane.timers.values(), lane.now + 5000) - lane.now)),
  captured: (lane) => lane.capture(true),
  'other languages': (lane) => lane.options({ targets: ['fr', 'it'] }),
  stop: (lane) => lane.stop(),
  closed: (lane) => lane.hold('closed'),
  opens: (lane) => lane.hold(null),
};

const RACES: readonly (readonly string[])[] = [
  ['granted', 'opened', 'task runs', 'next timer', 'captured'],
  ['granted', 'hearing ended', 'task runs', 'revoked', 'stop'],
  ['refused', 'limit reached', 'next timer', 'captured', 'task runs'],
  ['opened', 'newest ended', 'old session ended', 'next timer', 'granted'],
  ['other languages', 'task runs', 'revoked', 'newest ended', 'captured'],
  ['granted', 'opened', 'limit reached', 'next timer', 'stop'],
  ['granted', 'refused', 'revoked', 'captured', 'next timer'],
  ['opened', 'task runs', 'limit reached', 'next timer', 'captured'],
  ['task runs', 'hearing ended', 'old session ended', 'next timer', 'other languages'],
  ['task runs', 'newest ended', 'revoked', 'captured', 'stop'],
  ['closed', 'granted', 'next timer', 'hearing ended', 'opens'],
  ['closed', 'task runs', 'captured', 'next timer', 'limit reached'],
];

function newest(lane: LaneHarness): number {
  return lane.state.nextStream - 1;
}

function hearing(lane: LaneHarness): number {
  return lane.hearing?.id ?? newest(lane);
}

function* options<T>(items: readonly T[]): Generator<readonly T[]> {
  if (items.length <= 1) yield items;
  for (const [i, first] of items.entries()) {
    for (const rest of items.length > 1 ? options(items.toSpliced(i, 1)) : []) yield [first, ...rest];
  }
}

/** Holds in every situation, in any order. @param everyNth of the orders: 1 takes all */
export function describeRaces(everyNth: number): void {
  describe.each(Object.keys(SITUATIONS))('while %s, in any order', (name) => {
    const origin = situation(name);

    it.each(RACES.map((race) => [race.join(', '), race] as const))('%s: every invariant holds', (_, race) => {
      const orders = [...options(race)].filter((_, index) => index % everyNth === 0);
      for (const order of orders) {
        const lane = fork(origin);
        for (const event of order) EVENTS[event]?.(lane);
        // In any case the lane ends when it is asked to.
        lane.stop();
        lane.pass(LANE_DEFAULTS.drainMs);
        expect(['idle', 'closed'], order.join(', ')).toContain(lane.phase);
        expect(lane.timers.size, order.join(', ')).toBe(0);
        expect(lane.accounts.held).toBe(0);
      }
      expect(orders).toHaveLength(120 / everyNth);
    });
  });
}
