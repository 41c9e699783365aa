/** First-in first-out queue of PCM; copies only when a request spans several blocks. */
export interface PcmQueue {
  push(pcm: Uint8Array): void;
  /** Puts sound in front of everything else. */
  unshift(pcm: Uint8Array): void;
  /** Takes up to this many bytes from the front. */
  take(bytes: number): Uint8Array;
  clear(): void;
  readonly bytes: number;
}

export function createPcmQueue(): PcmQueue {
  const blocks: Uint8Array[] = [];
  let held = 0;
  return {
    push(pcm) {
      if (pcm.byteLength === 0) return;
      blocks.push(pcm);
      held += pcm.byteLength;
    },
    unshift(pcm) {
      if (pcm.byteLength === 0) return;
      blocks.unshift(pcm);
      held += pcm.byteLength;
    },
    take(bytes) {
      const wanted = Math.min(bytes, held);
      held -= wanted;
      const first = blocks[0];
      if (first !== undefined && first.byteLength > wanted) {
        blocks[0] = first.subarray(wanted);
        return first.subarray(0, wanted);
      }
      if (first !== undefined && first.byteLength === wanted) {
        blocks.shift();
        return first;
      }
      const taken = new Uint8Array(wanted);
      for (let at = 0; at < wanted; ) {
        const block = blocks.shift();
        if (block === undefined) break;
        const part = block.subarray(0, wanted - at);
        if (part.byteLength < block.byteLength) blocks.unshift(block.subarray(part.byteLength));
        taken.set(part, at);
        at += part.byteLength;
      }
      return taken;
    },
    clear() {
      blocks.length = 0;
      held = 0;
    },
    get bytes() {
      return held;
    },
  };
}
