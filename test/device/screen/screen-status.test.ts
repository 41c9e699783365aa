import { describe, expect, it } from 'vitest';
import { LANE_DEFAULTS, type LaneOptions } from '../../../src/device/lane/state/lane-options.ts';
import { createLane, type LaneState } from '../../../src/device/lane/state/lane-state.ts';
import { enqueue, enqueuePhrase } from '../../../src/device/playout/playout.ts';
import { levelStep, screenStatus } from '../../../src/device/screen/screen-status.ts';

const OPTIONS: LaneOptions = {
  source: 'en',
  targets: ['es'],
  voice: null,
  echo: 'off',
  start: 'boot',
  standbyAfterMs: 120_000,
  earcons: false,
  bargeIn: 'duck',
  muted: false,
  volume: 80,
};

const lane = createLane({
  settings: {
    ...LANE_DEFAULTS,
    softEdges: false,
    quickens: false,
    rollLeadMs: 22_000,
    playoutBytesPerMs: 48,
  },
  options: OPTIONS,
  idPrefix: 'main',
  seed: 1,
});
const STANDBY: LaneState['session'] = { kind: 'standby', heardLately: [] };
const NOW = 100_000;
const running: LaneState = { ...lane, wanted: true, brokerUp: true, session: STANDBY };
const PCM = new Uint8Array(4800);
const FORMAT = { softEdges: false, quickens: false, bytesPerMs: 48, lagMs: 10_000, aheadMs: 300 };
const ARRIVAL = { stream: 1, key: 'a', pcm: PCM, receivedAt: NOW, complete: true };
const PLAYING = {
  translation: enqueue(lane.playout, ARRIVAL, FORMAT),
  phrase: enqueuePhrase(lane.playout, 'es', PCM, NOW),
};
const at = (state: Partial<LaneState>, understoodAt: number | null = null) => ({
  state: { ...running, ...state },
  understoodAt,
  closedUntil: '2026-11-28T08:00:00.000Z',
});

describe('the status on the screen', () => {
  it.each([
    ['standby', at({}), { kind: 'standby' }],
    ['a hold', at({ hold: 'closed' }), { kind: 'closed', until: '2026-11-28T08:00:00.000Z' }],
    ['a spent budget', at({ hold: 'budget' }), { kind: 'closed', until: '2026-11-28T08:00:00.000Z' }],
    ['stop', at({ wanted: false, session: { kind: 'idle' } }), { kind: 'closed', until: null }],
    ['shutdown', at({ ending: true }), { kind: 'closed', until: null }],
    ['mute', at({ options: { ...OPTIONS, muted: true } }), { kind: 'muted' }],
    ['no broker', at({ brokerUp: false }), { kind: 'offline', cause: 'connection' }],
    ['no microphone', at({ captureLost: true }), { kind: 'offline', cause: 'microphone' }],
    ['no loudspeaker', at({ playbackLost: true }), { kind: 'offline', cause: 'loudspeaker' }],
    [
      'mute without a microphone',
      at({ captureLost: true, options: { ...OPTIONS, muted: true } }),
      {
        kind: 'offline',
        cause: 'microphone',
      },
    ],
    ['a sentence that was understood', at({}, NOW - 3000), { kind: 'translating' }],
    ['a translation that never came', at({}, NOW - 15_000), { kind: 'standby' }],
    ['speech', at({ playout: PLAYING.translation }, NOW - 1), { kind: 'speaking' }],
    [
      'speech after closing time',
      at({ hold: 'closed', playout: PLAYING.translation }),
      {
        kind: 'speaking',
      },
    ],
    ['speech without a broker', at({ brokerUp: false, playout: PLAYING.translation }), { kind: 'speaking' }],
    ['a phrase', at({ playout: PLAYING.phrase }), { kind: 'speaking' }],
    [
      'a phrase without a broker',
      at({ brokerUp: false, playout: PLAYING.phrase }),
      { kind: 'offline', cause: 'connection' },
    ],
  ])('tells %s', (_what, one, expected) => {
    expect(screenStatus([one], NOW)).toEqual(expected);
  });

  it('tells the problem of one lane when the other works', () => {
    expect(screenStatus([at({}), at({ playbackLost: true })], NOW).kind).toBe('offline');
    expect(screenStatus([at({ hold: 'closed' }), at({})], NOW).kind).toBe('standby');
    const speaking = at({ playout: { ...lane.playout, queuedBytes: 10 } });
    expect(screenStatus([speaking, at({ captureLost: true })], NOW).kind).toBe('offline');
    expect(screenStatus([at({}), at({}, NOW - 1)], NOW).kind).toBe('translating');
  });

  it('tells what the staff can put right first', () => {
    const causeOf = (state: Partial<LaneState>) => screenStatus([at(state)], NOW);
    expect(causeOf({ brokerUp: false, captureLost: true })).toMatchObject({ cause: 'microphone' });
    expect(causeOf({ brokerUp: false, playbackLost: true })).toMatchObject({ cause: 'loudspeaker' });
    expect(causeOf({ captureLost: true, playbackLost: true })).toMatchObject({ cause: 'microphone' });
  });
});

describe('levelStep', () => {
  it.each([
    [Number.NEGATIVE_INFINITY, 0],
    [-60, 0],
    [-35, 5],
    [-10, 10],
    [0, 10],
  ])('shows %d dBFS as %i', (db, step) => {
    expect(levelStep(db)).toBe(step);
  });
});
