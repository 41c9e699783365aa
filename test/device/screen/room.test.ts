import { describe, expect, it } from 'vitest';
import { createScreenActions } from '../../../src/device/desk/screen-actions.ts';
import type { LaneRunner } from '../../../src/device/lane/runner/lane-runner.ts';
import type { LaneState } from '../../../src/device/lane/state/lane-state.ts';
import { createScreenView } from '../../../src/device/screen/screen-view.ts';
import type { ScreenChange } from '../../../src/protocol/screen.ts';
import { createVirtualClock } from '../../virtual-clock.ts';
import { createFakeDeps, testConfig } from '../fake-deps.ts';
import { LaneHarness } from '../lane/lane-harness.ts';

const TALK = { startedAt: 0, notice: null };

/** The screen of a room: the clerk's lane and the visitor's, in a conversation. */
function roomScreen() {
  const { deps } = createFakeDeps(testConfig());
  const clock = createVirtualClock(60_000);
  const { screen } = testConfig({}, { screen: { enabled: true } });
  const lanes = ['clerk', 'visitor'].map((id, at) => {
    const { state } = new LaneHarness({ options: { volume: 50 + 30 * at } }).goLive();
    return { id, state: { ...state, conversation: TALK } } as unknown as LaneRunner & { state: LaneState };
  });
  const carried: unknown[] = [];
  const actions = createScreenActions({
    clock,
    desks: () => [lanes],
    offerOf: () => [],
    phrases: () => [],
    phraseSound: async () => null,
    carryOut: async (name, args) => void carried.push([name, args]),
    touchMenu: () => {},
    endConversation: async () => {},
  });
  const view = createScreenView({
    clock,
    log: deps.log,
    lanes,
    desks: () => [lanes],
    config: screen,
    run: 'run-1',
    offerOf: () => [],
    notice: () => false,
    phrases: () => [],
    operator: () => '',
    closedUntil: () => null,
    help: () => null,
    menu: () => null,
  });
  const changes: ScreenChange[] = [];
  view.watch((change) => changes.push(change));
  /** The lane learns that its conversation has ended. */
  const end = (id: string): void => {
    const lane = lanes.find((one) => one.id === id);
    if (lane === undefined) throw new Error(`no lane ${id}`);
    const before = lane.state;
    lane.state = { ...before, conversation: null };
    const event = { type: 'conversation', conversation: null } as const;
    view.onStep({ lane: id, event, effects: [], before, after: lane.state });
  };
  const ends = () => changes.flatMap(({ conversation }) => conversation ?? []);
  return { actions, carried, end, ends, view };
}

describe('the screen of a room', () => {
  it('ends its conversation once, with the last of the two lanes', () => {
    const { end, ends, view } = roomScreen();
    end('clerk');
    expect(ends()).toEqual([]);
    end('visitor');
    expect(ends()).toEqual([2]);
    view.close();
  });

  it('turns both loudspeakers up and down', async () => {
    const { actions, carried, view } = roomScreen();
    expect(await actions.act({ do: 'louder', lane: 'visitor' })).toBeNull();
    expect(carried).toEqual([
      ['volume', { lane: 'clerk', percent: 60 }],
      ['volume', { lane: 'visitor', percent: 90 }],
    ]);
    expect(await actions.act({ do: 'quieter', lane: 'visitor' })).toBeNull();
    expect(carried.slice(2)).toEqual([
      ['volume', { lane: 'clerk', percent: 40 }],
      ['volume', { lane: 'visitor', percent: 70 }],
    ]);
    view.close();
  });
});
