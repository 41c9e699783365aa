/** Mono sound of a stream by position, as far back as it is still needed. */
export interface SoundBuffer {
  append(mono: Int16Array): void;
  /** Releases whole pieces that end before `position`. */
  forget(position: number): void;
  /** Copies the sound between two positions, without parts that were already discarded. */
  cut(from: number, to: number): Int16Array;
  /** Sample frames kept. */
  readonly length: number;
}

export function createSoundBuffer(): SoundBuffer {
  const pieces: Int16Array[] = [];
  let start = 0;
  let end = 0;
  return {
    append(mono) {
      if (mono.length === 0) return;
      pieces.push(mono);
      end += mono.length;
    },
    forget(position) {
      for (let first = pieces[0]; first !== undefined; first = pieces[0]) {
        if (start + first.length > position) return;
        pieces.shift();
        start += first.length;
      }
    },
    cut(from, to) {
      const begin = Math.max(from, start);
      const sound = new Int16Array(Math.max(0, Math.min(to, end) - begin));
      let at = start;
      for (const piece of pieces) {
        const head = Math.max(begin, at);
        const tail = Math.min(begin + sound.length, at + piece.length);
        if (head < tail) sound.set(piece.subarray(head - at, tail - at), head - begin);
        at += piece.length;
      }
      return sound;
    },
    get length() {
      return end - start;
    },
  };
}
