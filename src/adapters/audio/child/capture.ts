import type { AudioFault, Capture, CaptureSink } from '../../../ports/audio.ts';
import { beginCaptureClock, noteSamples, restartCaptureClock } from '../../../sound/capture-clock.ts';
import { createDeliverySpeed } from '../../../sound/delivery-speed.ts';
import { BYTES_PER_SAMPLE } from '../../../sound/pcm.ts';
import { measureLevel } from '../../../sound/sound-level.ts';
import { type Conversion, frameBytesOf, fromDevice, type Shape } from './format.ts';
import type { Child, ChildSpec } from './process.ts';
import { createStartLimit } from './start-limit.ts';
import { cureOf, type NamedDevice } from './stderr-classifier.ts';
import { type SupervisorDeps, supervise } from './supervisor.ts';
import { createWatchdog } from './watchdog.ts';

/** A kind of child that delivers sound on its standard output. */
export interface CaptureChild {
  readonly device: () => NamedDevice;
  spec(): ChildSpec;
  /** The format that the device is expected to deliver. */
  shape(): Shape;
  /**
   * Receives each line of the child's standard error, after the supervisor has read it.
   * @returns `again` when the child must be restarted with other arguments
   */
  line?(text: string): 'again' | null;
  /** Called for every delivery, with its number of samples at the device's rate. */
  delivered?(samples: number, now: number): 'again' | null;
  alternative?(fault: AudioFault): string | null;
  /** @returns `again` when this needs a restart */
  useShortPeriods?(on: boolean): 'again' | null;
  /** Checks the running child's health from time to time. Returns when to restart it: in a quiet moment, or now; null: no need. */
  inspect?(child: Child): 'quiet' | 'now' | null;
}

/**
 * Longest time without data from a child (milliseconds); then the device counts as hung, because a working one delivers at least
 * zeros. A sound server first has to wake up its device.
 */
const SILENCE_LIMIT_MS = { card: 2000, server: 5000 } as const;
/** Grace period after a blocked event loop (milliseconds): the waiting sound is read before the child is judged. */
const MERCY_MS = 150;
/** Below this level (dBFS) speech is unlikely. */
const QUIET_DBFS = -45;

/** Runs a capture on a child process. */
export function runCapture(
  kind: CaptureChild,
  rateHz: number,
  sink: CaptureSink,
  deps: SupervisorDeps,
  seed: number,
): Capture {
  const { clock, log } = deps;
  let closed = false;
  let shape = kind.shape();
  let timeline = beginCaptureClock(shape.rateHz);
  let speed = createDeliverySpeed(shape.rateHz);
  let rest: Uint8Array = new Uint8Array(0);
  let conversion: Conversion | null = null;
  let converted: Shape | null = null;
  let loading = false;
  /** The last delivery. It is measured only when its level is needed. */
  let last: Uint8Array = new Uint8Array(0);
  const startLimit = createStartLimit();
  /** The running child has delivered sound. */
  let hasSounded = false;

  const watchdog = createWatchdog(clock, MERCY_MS, () => {
    if (!hasSounded) startLimit.missed();
    const device = kind.device();
    const { part, name, program } = device;
    const message = `the ${part} device "${name}" delivers nothing; ${program} is restarted. If this persists, ${cureOf(device)}`;
    supervisor.failChild({ code: 'hung', message });
  });
  const adopt = (next: Shape): void => {
    shape = next;
    rest = new Uint8Array(0);
    speed = createDeliverySpeed(next.rateHz);
    timeline = beginCaptureClock(next.rateHz);
    if (!isPlain() && !isConverted()) load(next);
  };
  const noteChannel = (channel: number | null): void => {
    const device = kind.device().name;
    if (channel === null) log.info({ device }, 'both channels of the microphone are used again');
    else
      log.warn(
        { device, channel },
        'the channels of the microphone cancel each other out (opposite phase); one of them is used alone',
      );
  };
  const load = (wanted: Shape): void => {
    if (loading) return;
    loading = true;
    fromDevice(wanted, rateHz, noteChannel).then(
      (made) => {
        loading = false;
        if (closed) return made.close();
        conversion?.close();
        conversion = made;
        converted = wanted;
      },
      () => {
        loading = false;
        const message = `the sound of the capture device "${kind.device().name}" can't be converted: the resampler does not load; install the program again`;
        supervisor.failChild({ code: 'failed', message });
      },
    );
  };
  const isPlain = (): boolean => shape.channels === 1 && shape.rateHz === rateHz;
  const isConverted = (): boolean =>
    converted !== null && converted.rateHz === shape.rateHz && converted.channels === shape.channels;

  const receive = (bytes: Uint8Array): void => {
    watchdog.expect(kind.device().isServer ? SILENCE_LIMIT_MS.server : SILENCE_LIMIT_MS.card);
    const now = clock.now();
    const frameBytes = frameBytesOf(shape);
    const joined = rest.byteLength === 0 ? bytes : Buffer.concat([rest, bytes]);
    const whole = joined.byteLength - (joined.byteLength % frameBytes);
    rest = joined.subarray(whole);
    if (whole === 0) return;
    const samples = whole / frameBytes;
    if (speed.note(samples, now)) {
      const { name, program } = kind.device();
      const message = `the capture device "${name}" delivers data faster than real time, so the data is not sound; ${program} is restarted. Replug the device`;
      return supervisor.failChild({ code: 'too_fast', message });
    }
    if (kind.delivered?.(samples, now) === 'again') supervisor.restartChild();
    timeline = noteSamples(timeline, samples, now);
    const { capturedAt } = timeline;
    supervisor.working();
    hasSounded = true;
    startLimit.met();
    last = joined;
    if (!isPlain() && !isConverted()) load(shape);
    const sound = joined.subarray(0, whole);
    if (isPlain()) return sink.frames(sound, capturedAt);
    const pcm = isConverted() ? conversion?.convert(sound) : undefined;
    if (pcm !== undefined && pcm.byteLength >= BYTES_PER_SAMPLE) sink.frames(pcm, capturedAt);
  };

  const supervisor = supervise(
    {
      device: kind.device,
      direction: 'in',
      spec: kind.spec,
      started() {
        adopt(kind.shape());
        hasSounded = false;
        watchdog.expect(startLimit.ms);
      },
      data: receive,
      line(text) {
        if (kind.line?.(text) === 'again') return supervisor.restartChild();
        // The child may have been granted another format than it requested.
        const next = kind.shape();
        if (next.rateHz !== shape.rateHz || next.channels !== shape.channels) adopt(next);
      },
      xrun() {
        timeline = restartCaptureClock(timeline);
        return true;
      },
      gone: watchdog.rest,
      inspect: kind.inspect,
      isQuiet: () => measureLevel(last).rmsDb < QUIET_DBFS,
      alternative: kind.alternative,
      fault: (fault) => sink.fault(fault),
      back() {},
    },
    deps,
    seed,
  );
  return {
    figures: supervisor.figures,
    useShortPeriods(on) {
      if (kind.useShortPeriods?.(on) === 'again') supervisor.restartChild();
    },
    async close() {
      if (closed) return;
      closed = true;
      watchdog.rest();
      conversion?.close();
      await supervisor.close();
    },
  };
}
