import type {
  AudioFault,
  Capture,
  CaptureSink,
  Mixer,
  OpenCapture,
  OpenPlayback,
  Place,
  Playback,
  PlaybackSink,
  Written,
} from '../../ports/audio.ts';
import { attempt, type Defects, nameOf } from './defects.ts';

/** A loudspeaker that never throws. */
export interface GuardedPlayback extends Omit<Playback, 'write'> {
  /** As the driver's, or null: it is not heard, and a fault has told why. */
  write(pcm: Uint8Array): Written | null;
}

export type OpenGuardedPlayback = (sink: PlaybackSink) => Promise<GuardedPlayback>;

const broken = (part: string, error: unknown): AudioFault => ({
  code: 'failed',
  message: `a defect of the program: the ${part} threw (${nameOf(error)}); its log tells more`,
});

/** A fault that lasts is told once, and is over when the same goes well again. */
function faultTeller(tell: (fault: AudioFault) => void, over: () => void) {
  let isTold = false;
  return {
    get isTold() {
      return isTold;
    },
    bad(fault: AudioFault): void {
      if (isTold) return;
      isTold = true;
      tell(fault);
    },
    well(): void {
      if (!isTold) return;
      isTold = false;
      over();
    },
  };
}

/**
 * A microphone of which nothing throws and nothing rejects but its opening. Sound that the agent could not take is a fault
 * of the microphone for the owner: nobody hears it.
 */
export function guardCapture(open: OpenCapture, defects: Defects): OpenCapture {
  return async (sink, shortPeriods) => {
    const capture = await open(guardCaptureSink(sink, defects), shortPeriods);
    const guarded: Capture = {
      get figures() {
        return figuresOf(capture, 'capture', defects);
      },
      useShortPeriods(on) {
        attempt(defects, 'capture.hasten', () => capture.useShortPeriods?.(on));
      },
      close: () => closeQuietly('capture', () => capture.close(), defects),
    };
    return guarded;
  };
}

function guardCaptureSink(sink: CaptureSink, defects: Defects): CaptureSink {
  const faults = faultTeller(
    (fault) => void attempt(defects, 'capture fault', () => sink.fault(fault)),
    // The next chunk that gets through tells that it is back.
    () => {},
  );
  return {
    frames(pcm, capturedAt) {
      try {
        sink.frames(pcm, capturedAt);
      } catch (error) {
        defects('captured sound', error);
        return faults.bad(broken('way of the captured sound', error));
      }
      faults.well();
    },
    ended: () => void attempt(defects, 'capture end', () => sink.ended()),
    gainChanged: (change) => void attempt(defects, 'capture gain', () => sink.gainChanged?.(change)),
    fault: (fault) => void attempt(defects, 'capture fault', () => sink.fault(fault)),
  };
}

/**
 * A loudspeaker of which nothing throws and nothing rejects but its opening: what can't be written is a fault. It sounds again
 * when that and the driver's own fault are both over.
 */
export function guardPlayback(open: OpenPlayback, defects: Defects): OpenGuardedPlayback {
  return async (sink) => {
    let isClosed = false;
    /** The driver's own fault. */
    let isAway = false;
    const back = (): void => {
      if (!faults.isTold && !isAway) attempt(defects, 'playback back', () => sink.back());
    };
    /** Found while somebody writes: whoever is told is not in the middle of that. */
    const later = (news: () => void): void => queueMicrotask(() => isClosed || news());
    const faults = faultTeller(
      (fault) => later(() => attempt(defects, 'playback fault', () => sink.fault(fault))),
      () => later(back),
    );
    const playback = await open({
      fault(fault) {
        isAway = true;
        attempt(defects, 'playback fault', () => sink.fault(fault));
      },
      back() {
        isAway = false;
        back();
      },
      missed: (ms) => void attempt(defects, 'playback loss', () => sink.missed(ms)),
      measured: (heardUntil) => void attempt(defects, 'playback measure', () => sink.measured(heardUntil)),
    });
    const guarded: GuardedPlayback = {
      write(pcm) {
        let written: Written | null = null;
        try {
          written = playback.write(pcm);
        } catch (error) {
          defects('playback.write', error);
          faults.bad(broken("loudspeaker's driver", error));
          return null;
        }
        faults.well();
        return written;
      },
      flush() {
        let until: number | undefined;
        attempt(defects, 'playback.flush', () => {
          until = playback.flush();
        });
        return until;
      },
      get place() {
        let place: Place | null = null;
        attempt(defects, 'playback.place', () => {
          place = playback.place ?? null;
        });
        return place;
      },
      runOn(on) {
        attempt(defects, 'playback.runOn', () => playback.runOn?.(on));
      },
      get mixer() {
        return mixerOf(playback, defects);
      },
      get figures() {
        return figuresOf(playback, 'playback', defects);
      },
      close() {
        isClosed = true;
        return closeQuietly('playback', () => playback.close(), defects);
      },
    };
    return guarded;
  };
}

function mixerOf(playback: Playback, defects: Defects): Mixer | null {
  let mixer: Mixer | null = null;
  attempt(defects, 'playback.mixer', () => {
    mixer = playback.mixer;
  });
  const found = mixer as Mixer | null;
  if (found === null) return null;
  return {
    setVolume: (percent) => void attempt(defects, 'playback.setVolume', () => found.setVolume(percent)),
  };
}

function figuresOf(device: Capture | Playback, part: string, defects: Defects): Capture['figures'] {
  let figures: Capture['figures'];
  attempt(defects, `${part}.figures`, () => {
    figures = device.figures;
  });
  return figures;
}

async function closeQuietly(part: string, close: () => Promise<void>, defects: Defects): Promise<void> {
  try {
    await close();
  } catch (error) {
    defects(`${part}.close`, error);
  }
}
