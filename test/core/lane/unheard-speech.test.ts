import { describe, expect, it } from 'vitest';
import { LANE_DEFAULTS } from '../../../src/core/lane/lane-options.ts';
import { behave } from './behaviour.ts';
import { CHUNK_MS, LaneHarness } from './lane-harness.ts';
import { hearNothing, hearScored, NOISE, SURE, UNSURE } from './scored-sound.ts';

/** Somebody speaks, and of one chunk in four the lane's own detector is sure. */
function speakUnsurely(lane: LaneHarness, chunks: number): void {
  for (let i = 0; i < chunks; i++) hearScored(lane, CHUNK_MS, i % 4 === 0 ? SURE : UNSURE);
}

/** Live, with a service that answers when it is asked for its task, and does nothing else. */
function live(standbyAfterMs = 0): LaneHarness {
  const lane = new LaneHarness({
    settings: { silentAskMs: LANE_DEFAULTS.silentAskMs },
    options: { standbyAfterMs },
  }).goLive();
  behave(lane);
  return lane;
}

/** What the owner is told to have been lost by a service that says nothing. */
const told = (lane: LaneHarness): readonly unknown[] =>
  lane
    .all('notify')
    .filter(({ kind }) => kind === 'speech_lost')
    .map(({ detail }) => detail);

/** The service speaks a sentence of which the lane's own detector is not sure. */
function answerUnsure(lane: LaneHarness): void {
  hearScored(lane, CHUNK_MS, SURE);
  hearNothing(lane, 1600);
  lane.understands('before');
  lane.hear('before', 800, true);
  hearScored(lane, 3200, UNSURE);
  hearNothing(lane, 1600);
  lane.understands('a');
  lane.hear('a', 2000, true);
  // The microphone is deaf to the loudspeaker.
  hearNothing(lane, 3200);
}

describe('speech that a service took and said nothing of', () => {
  it('is told whole when the session is left, and not only as far as the lane was sure of it', () => {
    const lane = live();
    while (lane.phase === 'live') speakUnsurely(lane, 4);
    const said = lane.all('send_audio').length;
    const { lost } = lane.accounts;
    expect(lost).toBe(said - lane.state.counts.takenBack);
    expect(lost * CHUNK_MS).toBeGreaterThan(10_000);
    lane.until(() => lane.phase === 'live', 20_000);
    while (told(lane).length === 0) hearNothing(lane, CHUNK_MS);
    expect(told(lane)).toEqual([{ lost_ms: lost * CHUNK_MS, cause: 'silent_service' }]);
  });

  it('is told where somebody speaks on when the session ends: it is the beginning of that', () => {
    const speakOn = (): LaneHarness => {
      const lane = live();
      // It says that it is there, and nothing of what it takes.
      for (let chunk = 0; chunk < 98; chunk++) {
        hearScored(lane, CHUNK_MS, chunk % 4 === 0 ? SURE : UNSURE);
        lane.says({ message_type: 'current_task', data: { task_status: 'running' } });
      }
      return lane;
    };
    const broken = speakOn();
    broken.end();
    const again = broken.state.backlog.chunks.length;
    expect(again).toBeGreaterThan(80);
    broken.comeBack();
    hearNothing(broken, 40_000);
    const forgotten = { lost_ms: (98 - again) * CHUNK_MS, cause: 'silent_service' };
    expect(told(broken)).toEqual([forgotten]);
    const stopped = speakOn();
    stopped.stop();
    stopped.says({ message_type: 'eos', data: {} });
    expect(told(stopped)).toEqual([forgotten, { lost_ms: again * CHUNK_MS, cause: 'stopped' }]);
  });

  it('is none in a stretch of sound of which the lane was nowhere sure', () => {
    const lane = live();
    while (lane.all('close_stream').length === 0) {
      hearScored(lane, 7 * CHUNK_MS, SURE);
      hearNothing(lane, 4 * CHUNK_MS);
      hearScored(lane, 5 * CHUNK_MS, UNSURE);
      hearNothing(lane, 4 * CHUNK_MS);
    }
    expect(lane.accounts.lost).toBeGreaterThan(0);
    expect(lane.accounts.lost % 7).toBe(0);
    expect(lane.accounts.lost).toBeLessThan(7 * 12);
  });

  it('is told although little of it is too old to be said again: the session is left for more', () => {
    const lane = live();
    hearScored(lane, 2 * CHUNK_MS, SURE);
    while (lane.all('close_stream').length === 0) {
      hearNothing(lane, 20 * CHUNK_MS);
      hearScored(lane, 5 * CHUNK_MS, SURE);
    }
    expect(lane.accounts.lost).toBeGreaterThan(0);
    expect(lane.accounts.lost).toBeLessThan(10);
  });

  it('is told whole when the lane falls asleep', () => {
    const lane = live(20_000);
    lane.options({ standbyAfterMs: 15_000 });
    speakUnsurely(lane, 44);
    const said = lane.all('send_audio').length;
    lane.until(() => lane.phase === 'standby', 120_000);
    expect(lane.accounts.lost).toBe(said);
  });

  it('is told when the lane falls asleep where it is not sure of any of it, if it is ten seconds of such a voice', () => {
    const lost = (chunks: number): number => {
      const lane = live(25_000);
      answerUnsure(lane);
      hearScored(lane, chunks * CHUNK_MS, UNSURE);
      lane.until(() => lane.phase === 'standby', 60_000);
      return lane.accounts.lost;
    };
    expect(lost(35)).toBe(35);
    expect(lost(20)).toBe(0);
  });

  it('is told where the lane is not sure of any of it, if somebody has just spoken of whom it was not', () => {
    const lane = live();
    answerUnsure(lane);
    const from = lane.all('send_audio').filter(({ capturedAt }) => capturedAt !== null).length;
    const since = lane.now;
    while (lane.phase === 'live' && lane.now - since < 120_000) hearScored(lane, CHUNK_MS, UNSURE);
    const said = lane.all('send_audio').filter(({ capturedAt }) => capturedAt !== null).length - from;
    expect(lane.phase).not.toBe('live');
    expect(lane.accounts.lost).toBe(said - lane.state.counts.takenBack);
    expect(lane.accounts.lost * CHUNK_MS).toBeGreaterThan(10_000);
  });

  it('is no speech where nothing of it comes near to a voice, nor where a voice was heard that is sure', () => {
    const noise = live();
    answerUnsure(noise);
    hearScored(noise, 120_000, NOISE);
    expect(noise.phase).toBe('live');
    const other = live();
    hearScored(other, 3200, SURE);
    hearNothing(other, 1600);
    other.understands('a');
    other.hear('a', 2000, true);
    hearScored(other, 120_000, UNSURE);
    expect([noise, other].map(({ phase, accounts }) => [phase, accounts.lost])).toEqual([
      ['live', 0],
      ['live', 0],
    ]);
  });
});
