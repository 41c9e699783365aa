import type { AudioFault, OpenCapture } from '../../../../ports/audio.ts';
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
  const pieces: HeardPiece[] = [];
  let samples = 0;
  let fault: AudioFault | null = null;
  let closed = false;
  let look = (): void => {};
  let close = async (): Promise<void> => {};
  try {
    const capture = await open()({
      frames: (pcm, capturedAt) => {
        if (closed) return;
        pieces.push({ pcm, capturedAt });
        samples += pcm.byteLength / BYTES_PER_SAMPLE;
        look();
      },
      ended: () => {},
      fault: (given) => {
        fault = given;
        look();
      },
    });
    close = () => capture.close();
  } catch (error) {
    fault = faultOf(error);
  }
  return {
    pieces,
    get fault() {
      return fault;
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
    async close() {
      if (closed) return;
      closed = true;
      await close();
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
