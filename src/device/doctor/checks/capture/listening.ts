import type { AudioFault, CaptureSink, OpenCapture } from '../../../../ports/audio.ts';
import type { Clock } from '../../../../ports/clock.ts';
import { BYTES_PER_SAMPLE } from '../../../../sound/pcm.ts';
import type { HeardPiece } from './microphone-rules.ts';

/** An open microphone. */
export interface Listening {
  readonly pieces: readonly HeardPiece[];
  /** The last fault; null: none. */
  readonly fault: AudioFault | null;
  /** Waits for `ms` of sound in total; false if it takes longer than `withinMs`, or on a fault. */
  until(ms: number, withinMs: number): Promise<boolean>;
  close(): Promise<void>;
}

/** Opens a microphone and records it. A microphone that does not open has a fault and no sound. */
export async function listen(open: () => OpenCapture, rateHz: number, clock: Clock): Promise<Listening> {
  const recording = createRecording(rateHz, clock);
  let close = async (): Promise<void> => {};
  try {
    const capture = await open()(recording.sink);
    close = () => capture.close();
  } catch (error) {
    recording.sink.fault(faultOf(error));
  }
  return {
    pieces: recording.pieces,
    get fault() {
      return recording.fault;
    },
    until: recording.until,
    async close() {
      if (recording.end()) await close();
    },
  };
}

interface Recording extends Omit<Listening, 'close'> {
  readonly sink: CaptureSink;
  /** Takes no more sound. False if it has ended before. */
  end(): boolean;
}

function createRecording(rateHz: number, clock: Clock): Recording {
  const pieces: HeardPiece[] = [];
  let samples = 0;
  let fault: AudioFault | null = null;
  let hasEnded = false;
  let look = (): void => {};
  return {
    pieces,
    get fault() {
      return fault;
    },
    sink: {
      frames: (pcm, capturedAt) => {
        if (hasEnded) return;
        pieces.push({ pcm, capturedAt });
        samples += pcm.byteLength / BYTES_PER_SAMPLE;
        look();
      },
      ended: () => {},
      fault: (given) => {
        fault = given;
        look();
      },
    },
    until(ms, withinMs) {
      return new Promise((resolve) => {
        const settle = (enough: boolean): void => {
          cancel();
          look = () => {};
          resolve(enough);
        };
        const cancel = clock.at(clock.now() + withinMs, () => settle(false));
        look = () => {
          if ((samples * 1000) / rateHz >= ms) settle(true);
          else if (fault !== null) settle(false);
        };
        look();
      });
    },
    end() {
      const isFirst = !hasEnded;
      hasEnded = true;
      return isFirst;
    },
  };
}

/** A driver's exception as the fault that it would have reported. */
export function faultOf(error: unknown): AudioFault {
  const message = error instanceof Error ? error.message : 'unknown reason';
  const code: unknown = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
  const codes = ['not_found', 'busy', 'lost', 'hung', 'format', 'too_fast', 'failed'] as const;
  return { code: codes.find((known) => known === code) ?? 'failed', message };
}
