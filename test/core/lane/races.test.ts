import { describe, expect, it } from 'vitest';
import { LANE_DEFAULTS } from '../../../src/core/lane/settings.ts';
import { fork } from './fork.ts';
import { SITUATIONS, situation } from './situations.ts';
import { World } from './world.ts';

/** Things that come close together in practice. Each is about whatever the lane has at that moment. */
const EVENTS: Readonly<Record<string, (world: World) => void>> = {
  granted: (world) => {
    const id = world.all('request_token').at(-1)?.id ?? 'unheard-of';
    world.step({ type: 'granted', grant: world.grantFor(id, { maxDurationMs: 60_000 }) });
  },
  opened: (world) => world.step({ type: 'opened', stream: newest(world) }),
  refused: (world) => {
    const refusal = {
      status: 409,
      errorCode: null,
      texts: ['session_limit_reached'],
      detail: null,
      retryAfterMs: null,
    };
    world.step({ type: 'refused', stream: newest(world), refusal });
  },
  'newest ended': (world) => world.end(1006, '', newest(world)),
  'hearing ended': (world) => world.end(1006, '', hearing(world)),
  'retiring ended': (world) => world.end(1000, '', world.state.retiring?.stream.id ?? 1),
  'task runs': (world) =>
    world.says({ message_type: 'current_task', data: { task_status: 'running' } }, newest(world)),
  'limit reached': (world) => world.says({ message_type: 'max_duration_reached', data: {} }, hearing(world)),
  revoked: (world) => world.says({ message_type: 'session_revoked', data: {} }, hearing(world)),
  'next timer': (world) =>
    world.pass(Math.max(0, Math.min(...world.timers.values(), world.now + 5000) - world.now)),
  captured: (world) => world.capture(true),
  'other languages': (world) => world.orders({ targets: ['fr', 'it'] }),
  stop: (world) => world.stop(),
};

const RACES: readonly (readonly string[])[] = [
  ['granted', 'opened', 'task runs', 'next timer', 'captured'],
  ['granted', 'hearing ended', 'task runs', 'revoked', 'stop'],
  ['refused', 'limit reached', 'next timer', 'captured', 'task runs'],
  ['opened', 'newest ended', 'retiring ended', 'next timer', 'granted'],
  ['other languages', 'task runs', 'revoked', 'newest ended', 'captured'],
  ['granted', 'opened', 'limit reached', 'next timer', 'stop'],
  ['granted', 'refused', 'revoked', 'captured', 'next timer'],
  ['opened', 'task runs', 'limit reached', 'next timer', 'captured'],
  ['task runs', 'hearing ended', 'retiring ended', 'next timer', 'other languages'],
  ['task runs', 'newest ended', 'revoked', 'captured', 'stop'],
];

function newest(world: World): number {
  return world.state.nextStream - 1;
}

function hearing(world: World): number {
  return world.state.stream?.id ?? newest(world);
}

function* orders<T>(items: readonly T[]): Generator<readonly T[]> {
  if (items.length <= 1) yield items;
  for (const [i, first] of items.entries()) {
    for (const rest of items.length > 1 ? orders(items.toSpliced(i, 1)) : []) yield [first, ...rest];
  }
}

describe.each(Object.keys(SITUATIONS))('while %s, in every order', (name) => {
  const origin = situation(name);

  it.each(RACES.map((race) => [race.join(', '), race] as const))('%s: every invariant holds', (_, race) => {
    let count = 0;
    for (const order of orders(race)) {
      const world = fork(origin);
      for (const event of order) EVENTS[event]?.(world);
      // Whatever came of it, it comes to an end when it is told to.
      world.stop();
      world.pass(LANE_DEFAULTS.drainMs);
      expect(['idle', 'closed'], order.join(', ')).toContain(world.phase);
      expect(world.timers.size, order.join(', ')).toBe(0);
      expect(world.accounts.held).toBe(0);
      count++;
    }
    expect(count).toBe(120);
  });
});

describe('a stream that says again that it is open', () => {
  it('is not taken for its successor', () => {
    const world = new World().goRolling();
    world.grant();
    world.step({ type: 'opened', stream: 1 });
    expect(world.state.approach).toMatchObject({ stage: 'connecting', stream: { id: 2 } });
    expect(world.all('send_task')).toHaveLength(1);
  });
});

describe('a forked world', () => {
  it('is a world of its own', () => {
    const world = new World().goLive();
    const twin = fork(world);
    twin.speak(3);
    expect(world.wire).toBe('');
    expect(twin.wire).toBe('sss');
    world.speak(2);
    expect(world.wire).toBe('ss');
  });
});
