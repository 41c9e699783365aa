import { fileURLToPath } from 'node:url';
import { durationMs } from '../../core/audio/pcm.ts';
import type { CaptureSink, OpenCapture } from '../../ports/audio.ts';

/** The bundled recording: in the folder of the bundle, or of this file when the sources run. */
export function shippedRecording(): string {
  return fileURLToPath(new URL('./visitor.wav', import.meta.url));
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
