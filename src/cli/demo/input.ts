import { fileURLToPath } from 'node:url';
import type { CaptureSink, OpenCapture } from '../../ports/audio.ts';
import { durationMs } from '../../sound/pcm.ts';
import { measureLevel } from '../../sound/sound-level.ts';

/** The bundled recording: in the folder of the bundle, or of this file when the sources run. */
export function shippedRecording(): string {
  return fileURLToPath(new URL('./visitor.wav', import.meta.url));
}

/** Level below which a piece of a recording is a pause (dBFS). */
const PAUSE_DB = -50;

/** While `isAsked`, holds the recording at its next pause and delivers silence; then it continues without skipping anything. */
export function waitAtPauses(open: OpenCapture, isAsked: () => boolean): OpenCapture {
  return (sink, shortPeriods) => {
    const waiting: Uint8Array[] = [];
    /** Number of waiting pieces before the recording's end; null: the recording has not ended. */
    let beforeEnd: number | null = null;
    const endIfOver = (): void => {
      if (beforeEnd === 0) sink.ended();
    };
    const patient: CaptureSink = {
      frames: (pcm, capturedAt) => {
        waiting.push(pcm);
        const [next = pcm] = waiting;
        if (isAsked() && measureLevel(next).rmsDb < PAUSE_DB)
          return sink.frames(new Uint8Array(pcm.byteLength), capturedAt);
        waiting.shift();
        sink.frames(next, capturedAt);
        if (beforeEnd === null || beforeEnd === 0) return;
        beforeEnd -= 1;
        endIfOver();
      },
      ended() {
        beforeEnd = waiting.length;
        endIfOver();
      },
      fault: (fault) => sink.fault(fault),
    };
    return open(patient, shortPeriods);
  };
}

/** Limits a capture to this length; after that it delivers silence. */
export function limitCapture(open: OpenCapture, limitMs: number, rateHz: number): OpenCapture {
  return (sink, shortPeriods) => {
    let heardMs = 0;
    let isOver = false;
    const end = (): void => {
      if (isOver) return;
      isOver = true;
      sink.ended();
    };
    const limited: CaptureSink = {
      frames: (pcm, capturedAt) => {
        heardMs += durationMs(pcm.byteLength, rateHz);
        sink.frames(isOver ? new Uint8Array(pcm.byteLength) : pcm, capturedAt);
        if (heardMs >= limitMs) end();
      },
      ended: end,
      fault: (fault) => sink.fault(fault),
    };
    return open(limited, shortPeriods);
  };
}
