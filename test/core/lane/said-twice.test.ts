import { describe, expect, it } from 'vitest';
import { LaneHarness } from './lane-harness.ts';
import { tagged } from './sound.ts';

const CHUNK = 200;

/** Part of a sentence: no two are alike. */
const piece = (sentence: string, at: number): Uint8Array =>
  tagged(sentence.charCodeAt(0), at * CHUNK * 12, CHUNK * 12);

/** A service, or somebody on the way to it, that sends all that it says of a sentence twice. */
function answer(lane: LaneHarness, id: string, pieces: number, last = true): void {
  const twice = (message: Parameters<LaneHarness['says']>[0]): void => {
    for (let time = 0; time < 2; time++) lane.says(message);
  };
  const transcription = { transcription_id: id, language: 'es', text: 'x'.repeat((pieces * CHUNK) / 54) };
  twice({ message_type: 'validated_transcription', data: { transcription } });
  twice({ message_type: 'translated_transcription', data: { transcription } });
  for (let at = 0; at < pieces; at++) {
    const names = { sentence: id, language: 'es', utterance: id };
    const pcm = piece(id, at);
    twice({ message_type: 'output_audio', pcm, ...names, last: last && at === pieces - 1 });
  }
}

const playedMs = (lane: LaneHarness): number =>
  lane.all('play').reduce((sum, { pcm }) => sum + pcm.byteLength / 48, 0);
const events = (lane: LaneHarness) => lane.all('notify').map(({ kind }) => kind);

describe('a service that says everything twice', () => {
  it('is heard once, and none of it is said again or told as cut', () => {
    const lane = new LaneHarness({ options: { targets: ['es'], echo: 'off' } }).goLive();
    const before = events(lane).length;
    for (const id of ['a', 'b', 'c']) {
      lane.speak(10);
      lane.hush(4);
      answer(lane, id, 20);
      lane.hush(20);
    }
    lane.hush(120);
    expect(playedMs(lane)).toBeCloseTo(3 * 20 * CHUNK, -2);
    expect(lane.state.counts.repeatsMuted).toBe(60);
    expect(lane.state.counts.takenBack).toBe(0);
    expect(events(lane).slice(before)).toEqual([]);
  });

  it('has ended where only the second of the last two pieces says so', () => {
    const lane = new LaneHarness({ options: { targets: ['es'], echo: 'off' } }).goLive();
    lane.speak(10);
    lane.hush(4);
    answer(lane, 'a', 20, false);
    const names = { sentence: 'a', language: 'es', utterance: 'a' };
    lane.says({ message_type: 'output_audio', pcm: piece('a', 19), ...names, last: true });
    lane.hush(120);
    expect(playedMs(lane)).toBeCloseTo(20 * CHUNK, -2);
    expect(events(lane)).not.toContain('audio_cut');
    expect(lane.state.counts.takenBack).toBe(0);
  });
});
