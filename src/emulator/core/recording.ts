/** All audio bytes of a stream in order, in each direction, up to a limit; for tests that compare sounds. */
export interface Recording {
  received(pcm: Uint8Array): void;
  sent(pcm: Uint8Array): void;
  /** Deletes the recording and stops recording. */
  clear(): void;
  /** Sound in both directions so far. `truncated`: the limit was reached. */
  read(): { received: Uint8Array; sent: Uint8Array; truncated: boolean };
}

function join(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.byteLength, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.byteLength;
  }
  return whole;
}

/** @param limitBytes most bytes kept in each direction; 0 keeps none */
export function createRecording(limitBytes: number): Recording {
  const received: Uint8Array[] = [];
  const sent: Uint8Array[] = [];
  let receivedLeft = limitBytes;
  let sentLeft = limitBytes;
  let truncated = false;
  return {
    received(pcm) {
      if (limitBytes === 0) return;
      if (pcm.byteLength > receivedLeft) truncated = true;
      const kept = pcm.subarray(0, receivedLeft);
      receivedLeft -= kept.byteLength;
      if (kept.byteLength > 0) received.push(kept);
    },
    sent(pcm) {
      if (limitBytes === 0) return;
      if (pcm.byteLength > sentLeft) truncated = true;
      const kept = pcm.subarray(0, sentLeft);
      sentLeft -= kept.byteLength;
      if (kept.byteLength > 0) sent.push(kept);
    },
    clear() {
      truncated ||= received.length + sent.length > 0;
      received.length = 0;
      sent.length = 0;
      receivedLeft = 0;
      sentLeft = 0;
    },
    read: () => ({ received: join(received), sent: join(sent), truncated }),
  };
}
