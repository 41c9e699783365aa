import { attempt, type Defects, nameOf } from '../../machine/defects.ts';
import type { CaptureSink, OpenCapture } from '../../ports/audio.ts';

/**
 * Wraps callbacks for an adapter. An exception in one of them is reported and does not reach the adapter, where it would end
 * the process.
 * @param part names the adapter in the report, such as `bus`
 */
export function guardCallbacks<T extends object>(part: string, callbacks: T, defects: Defects): T {
  const guarded = Object.entries(callbacks).map(([name, callback]) => [
    name,
    typeof callback === 'function'
      ? (...args: unknown[]) =>
          void attempt(defects, `${part}.${name}`, () => callback.apply(callbacks, args))
      : callback,
  ]);
  return Object.fromEntries(guarded) as T;
}

/** If the agent cannot process a microphone's sound, the owner sees the microphone as failed. */
export function guardCapture(open: OpenCapture, defects: Defects): OpenCapture {
  return (sink, shortPeriods) => open(guardCaptureSink(sink, defects), shortPeriods);
}

function guardCaptureSink(sink: CaptureSink, defects: Defects): CaptureSink {
  const guarded = guardCallbacks('capture', sink, defects);
  let isReported = false;
  return {
    ...guarded,
    frames(pcm, capturedAt) {
      try {
        sink.frames(pcm, capturedAt);
        isReported = false;
      } catch (error) {
        defects('capture.frames', error);
        if (isReported) return;
        // The next chunk that reaches the lane ends the fault.
        isReported = true;
        const message = `a defect of the program: the capture pipeline threw (${nameOf(error)}); see its log`;
        guarded.fault({ code: 'failed', message });
      }
    },
  };
}
