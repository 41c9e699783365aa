import { describe, expect, it } from 'vitest';
import { createRecovery } from './recovery.ts';
import { createSimClock } from './sim-clock.ts';
import { createViolations } from './violations.ts';
import type { World } from './world.ts';

const LOST_AT = 300_000;
const S = 1000;
const TICK_MS = 20;

/** A lane streams, loses its stream to a fault, and has the next one `lastsS` later. */
function outage(
  kinds: readonly string[],
  { fault, lastsS, times = 1 }: { fault: string; lastsS: number; times?: number },
) {
  const clock = createSimClock(LOST_AT);
  const violations = createViolations(() => clock.now());
  let turn = (_now: number, _streams: boolean, _lane: string): void => {};
  const device = { phase: 'live' };
  const world = {
    clock,
    violations,
    device,
    liveSince: null,
    onTurn: (listener: typeof turn) => {
      turn = listener;
    },
  };
  const recovery = createRecovery(world as unknown as World, kinds);
  for (const lane of ['main', 'side']) turn(1000, true, lane);
  for (let time = 0; time < times; time++) recovery.happened({ kind: fault, begun: LOST_AT, over: LOST_AT });
  turn(LOST_AT, false, 'main');
  turn(LOST_AT + lastsS * S, true, 'main');
  return { ...recovery, found: () => violations.list.map(({ text }) => text) };
}

describe('loss of speech for lack of a stream', () => {
  it.each([
    { lane: 'main', atS: 0, may: true },
    { lane: 'main', atS: -44, may: true },
    { lane: 'main', atS: -46, may: false },
    { lane: 'main', atS: 99, may: true },
    { lane: 'main', atS: 101, may: false },
    { lane: 'side', atS: 0, may: false },
  ])('is allowed around an outage of the same lane: $lane, at $atS s', ({ lane, atS, may }) => {
    const { mayLose } = outage(['reset', 'refused'], { fault: 'reset', lastsS: 60 });
    expect(mayLose(LOST_AT + atS * S, lane)).toBe(may);
  });

  it.each([
    { fault: 'reset', may: false },
    { fault: 'refused', may: true },
    { fault: 'warning', may: false },
  ])('depends on the fault that happened, not on the others of the seed: $fault', ({ fault, may }) => {
    const { mayLose } = outage(['reset', 'refused', 'warning'], { fault, lastsS: 400 });
    expect(mayLose(LOST_AT + 390 * S, 'main')).toBe(may);
  });

  it.each([
    { times: 1, may: false },
    { times: 2, may: true },
  ])(
    'is allowed for minutes when the service reports an error for its task twice in a row: $times',
    ({ times, may }) => {
      const { mayLose } = outage(['service_error', 'reset'], { fault: 'service_error', lastsS: 400, times });
      expect(mayLose(LOST_AT + 390 * S, 'main')).toBe(may);
    },
  );

  it('is not allowed long after the lane streams again, whatever the bound of the fault', () => {
    const { mayLose } = outage(['refused'], { fault: 'refused', lastsS: 10 });
    expect(mayLose(LOST_AT + 99 * S, 'main')).toBe(true);
    expect(mayLose(LOST_AT + 101 * S, 'main')).toBe(false);
  });

  it('is allowed without an outage while the uplink is slow, and for a while after', () => {
    const { mayLose, found } = outage(['uplink_slow', 'warning'], { fault: 'uplink_slow', lastsS: 0 });
    for (let s = 0; s < 179; s++) expect(mayLose(LOST_AT + s * S, 'side')).toBe(true);
    expect(mayLose(LOST_AT + 181 * S, 'side')).toBe(false);
    expect(found()).toEqual([]);
  });

  it('is limited to the length of the outage and the speech that a silent stream took before it', () => {
    const { mayLose, found } = outage(['refused', 'reset'], { fault: 'refused', lastsS: 20 });
    const lose = (fromS: number, forS: number): void => {
      for (let ms = 0; ms < forS * S; ms += TICK_MS) mayLose(LOST_AT + fromS * S + ms, 'main');
    };
    lose(-44, 64);
    expect(found()).toEqual([]);
    lose(20, 2);
    expect(found()).toEqual(['65 s of speech were lost in an outage of 20 s']);
  });
});

describe('a token refused without a reason', () => {
  it.each([
    { refusals: 1, lastsS: 49, found: 0 },
    { refusals: 1, lastsS: 60, found: 1 },
    { refusals: 2, lastsS: 60, found: 0 },
    { refusals: 2, lastsS: 601, found: 1 },
  ])(
    'may park the lane only if the next token is refused as well: $refusals refused, $lastsS s',
    ({ refusals, lastsS, found }) => {
      const clock = createSimClock(LOST_AT);
      const violations = createViolations(() => clock.now());
      let turn = (_now: number, _streams: boolean, _lane: string): void => {};
      const world = {
        clock,
        violations,
        device: { phase: 'waiting' },
        liveSince: null,
        onTurn: (listener: typeof turn) => {
          turn = listener;
        },
      };
      const { happened } = createRecovery(world as unknown as World, ['refused_bare']);
      turn(1000, true, 'main');
      turn(LOST_AT, false, 'main');
      for (let time = 0; time < refusals; time++) happened({ kind: 'refuse', begun: LOST_AT, over: LOST_AT });
      // A fault that waits for the next connection does not restart the count.
      happened({ kind: 'refused_bare', begun: LOST_AT + 40 * S, over: LOST_AT + 40 * S });
      turn(LOST_AT + lastsS * S, true, 'main');
      expect(violations.list).toHaveLength(found);
    },
  );
});
