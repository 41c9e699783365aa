import { describe, expect, it } from 'vitest';
import { captureToWire, wireToSpeaker } from '../../../scripts/bench/latency.ts';
import type { Received, Sent } from '../../../scripts/bench/relay.ts';
import { conversation, cutSentences } from '../../../scripts/bench/speech.ts';
import type { Epoch } from '../../card/card-side.ts';
import { babble } from '../../card/sound.ts';

const CHUNK = 7680;
const epoch: Epoch = { startMs: 5000, framesPerMs: 24, atMs: (frame) => 5000 + frame / 24 };
const sound = babble(24_000 * 10, 1);

/** A chunk that starts at this device frame, and was on the wire this long after its end. */
function sent(frame: number, lateMs: number, isSilence = false): Sent {
  const from = frame % sound.length;
  const head = isSilence ? null : sound.slice(from, from + 64);
  return { kind: 'sent', name: 'agent', atMs: epoch.atMs(frame + CHUNK) + lateMs, head, samples: CHUNK };
}

const delays = (chunks: Sent[]): number[] =>
  captureToWire(chunks, sound, epoch).map(({ ms }) => Math.round(ms * 10) / 10);

describe('from capture to wire', () => {
  it('identifies each chunk by its sound when the sound repeats', () => {
    const chunks = [0, 1, 2, 40, 41].map((index) => sent(100 + index * CHUNK, index));
    expect(delays(chunks)).toEqual([0, 1, 2, 40, 41]);
  });

  it('identifies silence by the neighbouring chunks', () => {
    const chunks = [sent(0, 1), sent(CHUNK, 2, true), sent(2 * CHUNK, 3, true), sent(3 * CHUNK, 4)];
    expect(delays(chunks).sort()).toEqual([1, 2, 3, 4]);
  });

  it('ignores silence beside a gap', () => {
    expect(delays([sent(0, 1), sent(CHUNK, 2, true), sent(5 * CHUNK, 4)])).toEqual([1, 4]);
    expect(delays([sent(CHUNK, 2, true)])).toEqual([]);
  });
});

describe('from wire to speaker', () => {
  const speech = babble(24_000, 2);
  const received = (atMs: number, sentence: string, from: number, until: number): Received => ({
    kind: 'received',
    name: 'agent',
    atMs,
    sentence,
    pcm: speech.slice(from, until),
  });
  const played = (...places: [frame: number, pcm: Int16Array][]): Int16Array => {
    const timeline = new Int16Array(24_000 * 20);
    for (const [frame, pcm] of places) timeline.set(pcm, frame);
    return timeline;
  };

  it('times a sentence from its first chunk to its first sample', () => {
    const timeline = played([48_000, speech]);
    const chunks = [received(6958, 'a', 0, 4800), received(7000, 'a', 4800, 24_000)];
    const { ways, unheardAt } = wireToSpeaker(chunks, timeline, epoch);
    expect(ways.map(({ ms }) => Math.round(ms))).toEqual([42]);
    expect(unheardAt).toEqual([]);
  });

  it('finds a sentence with a soft beginning', () => {
    const softened = speech.map((sample, at) => (at < 200 ? Math.round((sample * at) / 200) : sample));
    const { ways } = wireToSpeaker([received(6958, 'a', 0, 4800)], played([48_000, softened]), epoch);
    expect(ways.map(({ ms }) => Math.round(ms))).toEqual([42]);
  });

  it.each([0.25, 1.7])('finds a sentence at another volume: times %d', (gain) => {
    const turned = speech.map((sample) => Math.round(sample * gain));
    const { ways, unheardAt } = wireToSpeaker(
      [received(6958, 'a', 0, 4800)],
      played([48_000, turned]),
      epoch,
    );
    expect(ways.map(({ ms }) => ms.toFixed(2))).toEqual(['42.00']);
    expect(unheardAt).toEqual([]);
  });

  it('leaves out a sentence that waited for another, and counts one that was never played', () => {
    const timeline = played([48_000, speech.slice(0, 12_000)], [60_000, speech.slice(12_000)]);
    const chunks = [
      received(6958, 'a', 0, 12_000),
      received(7000, 'b', 12_000, 24_000),
      { ...received(9000, 'c', 0, 4800), pcm: babble(4800, 3) },
    ];
    const { ways, unheardAt } = wireToSpeaker(chunks, timeline, epoch);
    expect(ways).toHaveLength(1);
    expect(unheardAt).toEqual([9000]);
  });
});

describe('the sound of the microphones', () => {
  const loud = (ms: number): Int16Array => new Int16Array(24 * ms).fill(3000);
  const quiet = (ms: number): Int16Array => new Int16Array(24 * ms);
  const recording = Int16Array.from(
    [quiet(500), loud(800), quiet(100), loud(800), quiet(900), loud(200), quiet(900), loud(1000)].flatMap(
      (part) => [...part],
    ),
  );

  it('is cut at pauses, without parts that are too short for a sentence', () => {
    expect(cutSentences(recording).map(({ length }) => length / 24)).toEqual([1700, 1000]);
  });

  it('leaves time for the translation of each sentence and is unique everywhere', () => {
    const heard = conversation(recording);
    expect(heard.length / 24).toBe(2 * (1700 + 1000) + 2 * 2400);
    const starts = new Set<string>();
    for (let at = 0; at + 16 <= heard.length; at += 24) starts.add(heard.subarray(at, at + 16).join());
    expect(starts.size).toBe(Math.floor((heard.length - 16) / 24) + 1);
  });
});
