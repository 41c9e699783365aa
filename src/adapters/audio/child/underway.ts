import { BYTES_PER_SAMPLE, sampleCount } from '../../../core/audio/pcm.ts';

/** What is on its way to the ear, so that it is not lost with a child that crashes. Places are frames of the device. */
export interface Underway {
  add(pcm: Uint8Array, from: number, end: number): void;
  /** So many frames have been heard. */
  heard(frames: number): void;
  /** What has not been heard when so many frames have, the newest first. */
  unheard(frames: number): readonly Uint8Array[];
  clear(): void;
}

export function createUnderway(): Underway {
  let pieces: { pcm: Uint8Array; from: number; end: number }[] = [];
  return {
    add: (pcm, from, end) => void pieces.push({ pcm, from, end }),
    heard(frames) {
      pieces = pieces.filter(({ end }) => end > frames);
    },
    unheard: (frames) =>
      pieces.toReversed().flatMap(({ pcm, from, end }) => {
        if (end <= frames) return [];
        const part = frames <= from ? 0 : (frames - from) / (end - from);
        return [pcm.subarray(Math.floor(part * sampleCount(pcm)) * BYTES_PER_SAMPLE)];
      }),
    clear() {
      pieces = [];
    },
  };
}
