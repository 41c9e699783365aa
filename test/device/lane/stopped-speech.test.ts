/** Translated speech that is not played because the lane is stopped: by command, by a shutdown, by its hours. */
import { describe, expect, it } from 'vitest';
import type { LaneOptions } from '../../../src/device/lane/state/lane-options.ts';
import { laneStatus } from '../../../src/device/status/status-rules.ts';
import { finished } from '../../service-events.ts';
import { LaneHarness } from './lane-harness.ts';

const events = (lane: LaneHarness): readonly Readonly<Record<string, unknown>>[] =>
  lane
    .all('notify')
    .filter(({ kind }) => kind === 'speech_dropped')
    .map(({ detail }) => detail);
const stopped = (sentences: number, droppedMs: number) => ({
  why: 'stop',
  sentences,
  dropped_ms: droppedMs,
  waiting_ms: 0,
});

function live(options: Partial<LaneOptions> = {}): LaneHarness {
  return new LaneHarness({ options }).goLive();
}

/** In the middle of a sentence, with two more waiting: 15,620 ms, of which 840 have been played. */
function speaking(options: Partial<LaneOptions> = {}): LaneHarness {
  const lane = live(options);
  lane.hear('a', 3620, true);
  lane.hear('b', 8000, true);
  lane.hear('c', 4000, true);
  lane.pass(840);
  return lane;
}

describe('translated speech that waits when the lane is stopped', () => {
  it.each([
    ['stop', (lane: LaneHarness) => lane.stop(), 'idle'],
    ['the end of the agent', (lane: LaneHarness) => lane.shutdown(), 'closed'],
  ] as const)('by %s: is reported once, with the written sound that was not played', (_name, end, rest) => {
    const lane = speaking();
    end(lane);
    expect(lane.phase).toBe('draining');
    expect(events(lane)).toEqual([]);
    lane.says(finished());
    expect(lane.phase).toBe(rest);
    expect(events(lane)).toEqual([stopped(3, 14_780)]);
    expect(lane.state.counts).toMatchObject({ speechDroppedMs: 14_780 });
    lane.pass(60_000);
    expect(events(lane)).toHaveLength(1);
    expect(lane.notes).not.toContain('unspoken');
    expect(lane.notes).not.toContain('speech_lost');
  });

  it('by its hours: is reported when a sentence was too long to be finished', () => {
    const lane = live();
    lane.hear('a', 29_000, true);
    lane.hold('closed');
    lane.pass(20_400);
    lane.says(finished());
    expect(lane.phase).toBe('idle');
    const [event] = events(lane);
    expect(event).toMatchObject({ why: 'stop', sentences: 1 });
    expect(event?.['dropped_ms']).toBeGreaterThan(8500);
    expect(event?.['dropped_ms']).toBeLessThanOrEqual(9000);
  });

  it('by its hours: reports nothing when all was played', () => {
    const lane = speaking();
    lane.hold('closed');
    lane.pass(20_000);
    lane.says(finished());
    expect(lane.phase).toBe('idle');
    expect(events(lane)).toEqual([]);
  });

  it('causes no problem in the report', () => {
    const lane = speaking();
    lane.stop();
    lane.says(finished());
    expect(laneStatus(lane.state, lane.now)).toEqual({
      ...laneStatus(lane.state, lane.now),
      status: 'idle',
      reasons: [{ code: 'stopped' }],
    });
    expect(lane.state.problem).toBeNull();
  });

  it('is counted together with sound that comes during the drain', () => {
    const lane = speaking();
    lane.stop();
    lane.hear('c', 500);
    lane.pass(500);
    lane.hear('d', 1000);
    lane.hear('d', 2000, true);
    lane.hear('e', 1500, true);
    lane.pass(3000);
    expect(lane.phase).toBe('idle');
    expect(events(lane)).toEqual([stopped(6, 19_780)]);
    expect(lane.state.counts.speechDroppedMs).toBe(19_780);
    expect(lane.all('play').every(({ at }) => at <= lane.last('end_task').at)).toBe(true);
  });

  it('is reported when it comes after the stop', () => {
    const lane = live();
    lane.stop();
    lane.hear('a', 700);
    lane.hear('a', 700, true);
    lane.says(finished());
    expect(events(lane)).toEqual([stopped(1, 1400)]);
  });

  it('is reported for a sentence that is written completely, and not played to its end', () => {
    const lane = live();
    lane.hear('a', 900, true);
    lane.pass(200);
    expect(lane.state.playout.queuedBytes).toBe(0);
    lane.stop();
    lane.says(finished());
    expect(events(lane)).toEqual([stopped(1, 700)]);
  });

  it('does not count sound that the loudspeaker still plays after the stop', () => {
    const lane = speaking({ echo: 'cancel' });
    lane.stop();
    lane.says(finished());
    expect(events(lane)).toEqual([stopped(3, 14_780 - 180)]);
  });

  it('in two languages is reported as one', () => {
    const lane = live({ targets: ['es', 'fr'] });
    for (const language of ['es', 'fr']) lane.hear(`a-${language}`, 3000, true, lane.stream, 'a', language);
    lane.pass(1000);
    lane.stop();
    lane.hear('b-fr', 1000, true, lane.stream, 'b', 'fr');
    lane.says(finished());
    expect(events(lane)).toEqual([stopped(3, 6000)]);
  });

  it('is reported at once when there is no session to end', () => {
    const lane = speaking();
    lane.end();
    expect(lane.phase).toBe('waiting');
    lane.stop();
    expect(lane.phase).toBe('idle');
    expect(events(lane)).toEqual([stopped(3, 14_780)]);
  });

  it('is reported for a muted lane', () => {
    const lane = speaking();
    lane.options({ muted: true });
    lane.stop();
    lane.says(finished());
    expect(events(lane)).toEqual([stopped(3, 14_780)]);
  });

  it('is reported when the lane is started again meanwhile', () => {
    const lane = speaking();
    lane.stop();
    lane.start();
    lane.says(finished());
    expect(lane.phase).toBe('acquiring');
    expect(events(lane)).toEqual([stopped(3, 14_780)]);
    lane.stop();
    expect(events(lane)).toHaveLength(1);
  });

  it('is reported once, however often the lane is stopped', () => {
    const lane = speaking();
    lane.stop();
    lane.stop();
    lane.shutdown();
    lane.says(finished());
    expect(lane.phase).toBe('closed');
    expect(events(lane)).toEqual([stopped(3, 14_780)]);
  });

  it('is still reported after a defect of the program', () => {
    const lane = speaking();
    lane.stop();
    lane.crash();
    expect(lane.phase).toBe('idle');
    expect(events(lane)).toEqual([stopped(3, 14_780)]);
  });
});

describe('a lane that is stopped with nothing to say', () => {
  const nothing = (lane: LaneHarness): void => {
    lane.stop();
    lane.pass(5000);
    expect(lane.phase).toBe('idle');
    expect(events(lane)).toEqual([]);
    expect(lane.state.counts).toMatchObject({ speechDroppedMs: 0 });
  };

  it.each([
    ['in standby', () => new LaneHarness().goStandby()],
    ['without a session', () => new LaneHarness().goAcquiring()],
    ['that was never started', () => new LaneHarness()],
    ['in silence', () => live()],
  ])('%s: reports nothing', (_name, make) => nothing(make()));

  it('reports nothing about a very short rest', () => {
    const lane = live();
    lane.hear('a', 1000, true);
    lane.pass(850);
    lane.stop();
    lane.pass(5000);
    expect(events(lane)).toEqual([]);
  });

  it('reports nothing about its own sounds', () => {
    const lane = live();
    lane.announce(new Uint8Array(2000 * 48).fill(7));
    lane.pass(100);
    nothing(lane);
  });
});

describe('translated speech that waits for a loudspeaker when the lane is stopped', () => {
  it('is reported with the cause `no_loudspeaker`, in one sum with speech dropped before', () => {
    const lane = live();
    lane.fault('playback');
    lane.hear('a', 4000, true);
    lane.pass(40_000);
    lane.hear('b', 3000, true);
    lane.stop();
    lane.hear('c', 1000, true);
    lane.says(finished());
    expect(events(lane)).toEqual([{ why: 'no_loudspeaker', sentences: 3, dropped_ms: 8000, waiting_ms: 0 }]);
    expect(lane.state.counts).toMatchObject({ speechDroppedMs: 8000 });
  });
});

describe('late sound of a sentence that a visitor spoke over', () => {
  it('is reported together with the sentence that the stop interrupted', () => {
    const lane = live({ echo: 'cancel', bargeIn: 'flush' });
    lane.step({ type: 'canceller', status: 'ready', message: '' });
    lane.hear('warming up', 3000, true);
    lane.pass(4000);
    lane.hear('a', 3000);
    lane.speak(2);
    lane.stop();
    lane.hear('a', 500);
    lane.hear('a', 500, true);
    lane.hear('b', 2000, true);
    lane.says(finished());
    expect(events(lane)).toMatchObject([{ why: 'barge_in' }, stopped(1, 3000)]);
  });
});

describe('speech that is not translated when the lane is stopped', () => {
  const CHUNK_MS = 320;
  const lost = (lane: LaneHarness) => lane.all('notify').filter(({ kind }) => kind === 'speech_lost');
  const ends = [
    ['stop', (lane: LaneHarness) => lane.stop(), 'idle'],
    ['the end of the agent', (lane: LaneHarness) => lane.shutdown(), 'closed'],
    ['its hours', (lane: LaneHarness) => lane.hold('closed'), 'idle'],
  ] as const;

  it.each(ends)('by %s: speech held in an outage is reported at once, with its cause', (_name, end, rest) => {
    const lane = new LaneHarness().goAcquiring();
    lane.brokerIs(false);
    const at = lane.now;
    lane.speak(12);
    end(lane);
    expect(lane.phase).toBe(rest);
    expect(lost(lane)).toMatchObject([
      { detail: { lost_ms: 12 * CHUNK_MS, cause: 'no_broker' }, times: { from: at } },
    ]);
    expect(lane.accounts).toMatchObject({ lost: 12, dropped: 12 });
    lane.pass(60_000);
    expect(lost(lane)).toHaveLength(1);
  });

  it.each(ends)('by %s: is reported in one sum with the overflow of the outage', (_name, end) => {
    const lane = new LaneHarness().goAcquiring();
    lane.speak(100);
    end(lane);
    expect(lost(lane)).toMatchObject([{ detail: { lost_ms: 100 * CHUNK_MS } }]);
  });

  it.each(ends.slice(0, 2))('by %s: transcribed speech that was not spoken is reported', (_name, end) => {
    const lane = live();
    const at = lane.now;
    lane.speak(4);
    lane.hush(4);
    lane.understands('a');
    lane.pass(2000);
    end(lane);
    expect(lost(lane)).toEqual([]);
    lane.says(finished());
    expect(lost(lane)).toMatchObject([
      { detail: { lost_ms: 4 * CHUNK_MS, cause: 'stopped' }, times: { from: at, to: at + 4 * CHUNK_MS } },
    ]);
  });

  it('is not reported for a sentence that the service speaks during the drain: that is dropped', () => {
    const lane = live();
    lane.speak(4);
    lane.hush(4);
    lane.understands('a');
    lane.stop();
    lane.hear('a', 1500, true);
    lane.says(finished());
    expect(lost(lane)).toEqual([]);
    expect(events(lane)).toMatchObject([{ why: 'stop', dropped_ms: 1500 }]);
  });

  it('is reported for an old session, too', () => {
    const lane = new LaneHarness({ options: { echo: 'off' } }).goReady();
    lane.speak(6);
    lane.hush(4);
    lane.understands('a', 1);
    expect(lane.state.oldSession?.stream.id).toBe(1);
    lane.stop();
    lane.says(finished(), 2);
    expect(lost(lane)).toMatchObject([{ detail: { cause: 'stopped' } }]);
    expect(lost(lane)[0]?.detail['lost_ms']).toBeGreaterThanOrEqual(6 * CHUNK_MS);
  });

  it('counts all held speech when the detector is sure of some of it', () => {
    const lane = new LaneHarness().goAcquiring();
    lane.isSpeech = false;
    lane.speak(8);
    lane.isSpeech = true;
    lane.speak(2);
    lane.stop();
    expect(lost(lane)).toMatchObject([{ detail: { lost_ms: 10 * CHUNK_MS } }]);
  });

  it.each([
    [5, 0],
    [6, 6],
    [50, 50],
  ])('is reported for unsure voices as for an overflow: %i chunks', (chunks, told) => {
    const lane = new LaneHarness().goAcquiring();
    lane.isSpeech = false;
    lane.speak(chunks);
    lane.stop();
    expect(lost(lane).map(({ detail }) => detail['lost_ms'])).toEqual(told === 0 ? [] : [told * CHUNK_MS]);
  });

  it('is not reported for sent audio without a known voice', () => {
    const lane = live();
    lane.isSpeech = false;
    lane.speak(20);
    lane.stop();
    lane.says(finished());
    expect(lost(lane)).toEqual([]);
  });
});
