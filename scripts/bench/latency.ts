import type { Epoch } from '../../test/card/card-side.ts';
import type { Received, Sent } from './relay.ts';

/** Latency of one chunk or sentence, and the time of its end. */
export interface Way {
  readonly atMs: number;
  readonly ms: number;
}

/** Longest age of captured sound that is searched (ms). */
const OLDEST_MS = 6000;
/** Longest delay until the loudspeaker plays a sentence (ms); a later sentence counts as lost. */
const LATEST_MS = 4000;

function agrees(sound: Int16Array, at: number, head: Int16Array): boolean {
  for (let i = 0; i < head.length; i++) if (sound[(at + i) % sound.length] !== head[i]) return false;
  return true;
}

/** Device frame of a chunk's first sample; null if it is not found. */
function frameOf(chunk: Sent, sound: Int16Array, epoch: Epoch): number | null {
  if (chunk.head === null) return null;
  const newest = Math.floor((chunk.atMs - epoch.startMs) * epoch.framesPerMs);
  const oldest = Math.max(0, newest - Math.round(OLDEST_MS * epoch.framesPerMs));
  for (let frame = newest; frame >= oldest; frame--) {
    if (sound[frame % sound.length] === chunk.head[0] && agrees(sound, frame % sound.length, chunk.head))
      return frame;
  }
  return null;
}

/**
 * Time from the capture of a chunk's last sample to the chunk on the wire. The position of silence that was sent instead of
 * sound follows from the neighbouring chunks, because chunks have no gaps between them.
 * @param sound the sound of the microphone, which repeats
 */
export function captureToWire(chunks: readonly Sent[], sound: Int16Array, epoch: Epoch): Way[] {
  const frames = chunks.map((chunk) => frameOf(chunk, sound, epoch));
  const ways: Way[] = [];
  let known = -1;
  for (const [index, chunk] of chunks.entries()) {
    const frame = frames[index];
    if (frame === null || frame === undefined) continue;
    const between = known < 0 ? 0 : index - known - 1;
    const steady = known >= 0 && frame - (frames[known] ?? 0) === (between + 1) * chunk.samples;
    for (let back = steady ? between : 0; back >= 0; back--) {
      const { atMs } = chunks[index - back] as Sent;
      ways.push({ atMs, ms: atMs - epoch.atMs(frame - (back - 1) * chunk.samples) });
    }
    known = index;
  }
  return ways;
}

/** Offsets in a sentence's first chunk at which a sample window is searched: a soft beginning may have been changed. */
const OFFSETS = [0, 240, 480, 960, 1920, 3840];
/** Length of the window (samples), long enough to be unique. */
const STRETCH = 256;
const TELLING = 128;
/** Correlation above which two windows are equal. The agent changes the loudness, so they differ by rounding. */
const ALIKE = 0.995;

/** Device frame at which a sentence begins, at any loudness; -1 if its sound is not found unchanged. */
function onsetOf(pcm: Int16Array, timeline: Int16Array, from: number, until: number): number {
  for (const offset of OFFSETS) {
    const part = pcm.subarray(offset, offset + STRETCH);
    if (part.filter((sample) => sample !== 0).length < TELLING) continue;
    const found = find(
      timeline,
      part,
      from + offset,
      Math.min(until + offset, timeline.length - part.length),
    );
    if (found >= 0) return found - offset;
  }
  return -1;
}

/**
 * Time from a sentence's first chunk on the wire to its first sample on the loudspeaker. Leaves out sentences that had to wait
 * for another one.
 * @param received all chunks, so that the first one of each sentence is included
 * @param timeline all played sound, by device frame
 */
export function wireToSpeaker(
  received: readonly Received[],
  timeline: Int16Array,
  epoch: Epoch,
): { ways: Way[]; unheardAt: number[] } {
  const ways: Way[] = [];
  const unheardAt: number[] = [];
  let busyUntilMs = Number.NEGATIVE_INFINITY;
  for (const sentence of bySentence(received)) {
    const [first] = sentence;
    if (first === undefined) continue;
    const from = Math.max(0, Math.floor((first.atMs - epoch.startMs) * epoch.framesPerMs));
    const until = from + Math.round((LATEST_MS + Math.max(0, busyUntilMs - first.atMs)) * epoch.framesPerMs);
    const onset = onsetOf(first.pcm, timeline, from, until);
    if (onset < 0) {
      unheardAt.push(first.atMs);
      continue;
    }
    const heardMs = epoch.atMs(onset);
    if (busyUntilMs <= first.atMs) ways.push({ atMs: first.atMs, ms: heardMs - first.atMs });
    const samples = sentence.reduce((sum, { pcm }) => sum + pcm.length, 0);
    busyUntilMs = epoch.atMs(onset + samples);
  }
  return { ways, unheardAt };
}

function bySentence(received: readonly Received[]): Received[][] {
  const sentences = new Map<string, Received[]>();
  for (const chunk of received) {
    const known = sentences.get(chunk.sentence);
    if (known === undefined) sentences.set(chunk.sentence, [chunk]);
    else known.push(chunk);
  }
  return [...sentences.values()];
}

function find(timeline: Int16Array, part: Int16Array, from: number, until: number): number {
  const power = part.reduce((sum, sample) => sum + sample * sample, 0);
  let sounding = 0;
  for (let at = from; at < from + part.length; at++) sounding += (timeline[at] ?? 0) ** 2;
  for (let at = from; at <= until; at++) {
    if (sounding > 0) {
      let both = 0;
      for (let i = 0; i < part.length; i++) both += (part[i] ?? 0) * (timeline[at + i] ?? 0);
      if (both > 0 && both * both >= ALIKE ** 2 * power * sounding) return at;
    }
    sounding += (timeline[at + part.length] ?? 0) ** 2 - (timeline[at] ?? 0) ** 2;
  }
  return -1;
}
