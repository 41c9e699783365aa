import { describe, expect, it } from 'vitest';
import { createConversations } from '../../../src/device/desk/conversations.ts';
import type { LaneRunner, LaneStep } from '../../../src/device/lane/runner/lane-runner.ts';
import type { LaneEffect } from '../../../src/device/lane/state/lane-effect.ts';
import type { LaneEvent } from '../../../src/device/lane/state/lane-event.ts';
import type { LaneState } from '../../../src/device/lane/state/lane-state.ts';
import { createVirtualClock } from '../../virtual-clock.ts';
import { testConfig } from '../fake-deps.ts';
import { LaneHarness } from '../lane/lane-harness.ts';

const LISTENERS = { playback: { driver: 'alsa', device: 'default' } };

/** A desk with a lane for each person: the clerk speaks English, the visitor Spanish. */
function openDesk(offer: string[] = []) {
  // Later than the last step of the lanes.
  const clock = createVirtualClock(60_000);
  const [clerkConfig] = testConfig({ ...LISTENERS, id: 'clerk', source: 'en', targets: ['es'], offer }).lanes;
  const config = testConfig({ ...LISTENERS, id: 'visitor', source: 'es', targets: ['en'] });
  if (clerkConfig === undefined) throw new Error('no lane');
  const both = { ...config, lanes: [clerkConfig, ...config.lanes] };
  const posted: (LaneEvent & { lane: string })[] = [];
  const told: Record<string, unknown>[] = [];
  const spoken: string[] = [];
  const watchers = new Set<(step: LaneStep) => void>();
  const harnesses = new Map<string, LaneHarness>();
  const lanes = both.lanes.map(({ id, source, targets }) => {
    const harness = new LaneHarness({ options: { source, targets } }).goLive();
    harness.hush(12);
    harnesses.set(id, harness);
    const lane = {
      id,
      state: harness.state,
      phase: 'live',
      post: (event: LaneEvent) => void posted.push({ ...event, lane: id }),
    };
    return lane as unknown as LaneRunner & { state: LaneState };
  });
  let desks: readonly (readonly LaneRunner[])[] = [lanes];
  const conversations = createConversations({
    clock,
    desks: () => desks,
    config: () => both,
    says: {
      say: async ([lane], { language }) => {
        spoken.push(`${lane?.id} ${language}`);
        return [0];
      },
      dropTyped() {},
    },
    watch(listener) {
      watchers.add(listener);
      return () => watchers.delete(listener);
    },
    tell: (kind, detail) => void told.push({ kind, ...detail }),
  });
  const step = (id: string, ...effects: LaneEffect[]): void => {
    const lane = lanes.find((one) => one.id === id);
    if (lane === undefined) throw new Error(`no lane ${id}`);
    const { state } = lane;
    const event: LaneEvent = { type: 'timer', timer: 'pace' };
    for (const watch of watchers) watch({ lane: id, event, effects, before: state, after: state });
  };
  const words = (id: string, language: string): void =>
    step(id, {
      type: 'caption',
      caption: { kind: 'source', isFinal: true, id: null, part: null, language, text: 'so' },
    });
  const stop = (id: string): void => {
    const [lane, harness] = [lanes.find((one) => one.id === id), harnesses.get(id)];
    if (lane === undefined || harness === undefined) throw new Error(`no lane ${id}`);
    harness.stop();
    lane.state = harness.state;
    step(id);
  };
  const configure = (next: typeof desks): void => {
    desks = next;
    conversations.lanesChanged();
  };
  return { clock, conversations, lanes, posted, told, spoken, watchers, words, stop, configure };
}

describe('a desk with two lanes', () => {
  it('has one conversation for both, which goes on while either person speaks', () => {
    const { clock, told, words, posted } = openDesk();
    words('visitor', 'es');
    clock.advance(60_000);
    words('clerk', 'en');
    clock.advance(89_000);
    expect(told).toEqual([{ kind: 'conversation_started', lane: 'visitor', by: 'voice' }]);
    clock.advance(2000);
    expect(told.slice(1)).toMatchObject([
      {
        kind: 'conversation_ended',
        lane: 'visitor',
        sentences: 2,
        languages: ['es', 'en'],
        duration_s: 150,
      },
    ]);
    const notes = posted.filter(({ type }) => type === 'conversation');
    expect(notes.map(({ lane }) => lane)).toEqual(['clerk', 'visitor', 'clerk', 'visitor']);
  });

  it('ends for both when one of them is named', () => {
    const { conversations, lanes, told } = openDesk();
    const [clerk, visitor] = lanes;
    if (clerk === undefined || visitor === undefined) throw new Error('no lanes');
    conversations.begin([clerk], 'key');
    conversations.end([visitor]);
    expect(told.map(({ kind }) => kind)).toEqual(['conversation_started', 'conversation_ended']);
    conversations.close();
  });

  it('goes on when one of its lanes stops, and ends with the last one', () => {
    const { told, words, stop } = openDesk();
    words('visitor', 'es');
    stop('visitor');
    expect(told.map(({ kind }) => kind)).toEqual(['conversation_started']);
    stop('clerk');
    expect(told.map(({ kind }) => kind)).toEqual(['conversation_started', 'conversation_ended']);
  });

  it('ends its conversation when the configuration takes a lane away, and not when nothing changes', () => {
    const { clock, told, words, lanes, posted, configure } = openDesk();
    words('visitor', 'es');
    configure([[...lanes]]);
    expect(told).toHaveLength(1);
    configure([lanes.slice(0, 1)]);
    expect(told.map(({ kind }) => kind)).toEqual(['conversation_started', 'conversation_ended']);
    clock.advance(1000);
    expect(clock.armed).toBe(0);
    const notes = posted.flatMap((event) => (event.type === 'conversation' ? event.conversation : []));
    expect(notes.slice(2)).toEqual([null, null]);
  });

  it('leaves neither a timer after its end nor a listener after the close', () => {
    const { clock, conversations, lanes, watchers } = openDesk();
    conversations.begin(lanes, 'key');
    clock.advance(1000);
    conversations.end(lanes);
    clock.advance(1000);
    expect(clock.armed).toBe(0);
    conversations.begin(lanes, 'key');
    conversations.close();
    expect([clock.armed, watchers.size]).toEqual([0, 0]);
  });

  it.each([
    ['to both people when no lane offers languages', [], ['clerk es', 'visitor en']],
    ['to the visitor alone where a lane offers languages', ['es', 'fr'], ['clerk es']],
  ])('speaks the notice %s', (_name, offer, expected) => {
    const { clock, conversations, lanes, spoken } = openDesk(offer);
    conversations.begin(lanes, 'key');
    clock.advance(5000);
    expect(spoken).toEqual(expected);
    conversations.close();
  });
});
