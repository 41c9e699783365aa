import { describe, expect, it } from 'vitest';
import { CapturePipeline } from '../../../../src/device/lane/runner/capture-pipeline.ts';
import type { LaneEvent } from '../../../../src/device/lane/state/lane-event.ts';
import type { CaptureSink } from '../../../../src/ports/audio.ts';
import type { EchoCancellerSink } from '../../../../src/ports/echo.ts';
import type { Log } from '../../../../src/ports/log.ts';
import { createEnergyDetector } from '../../../../src/sound/energy-detector.ts';
import { toPcm } from '../../../../src/sound/pcm.ts';
import {
  interpreter,
  noise,
  perform,
  through,
  together,
  VOICE_RATE_HZ,
  visitors,
} from '../../../acoustics.ts';
import { createVirtualClock } from '../../../virtual-clock.ts';

const CHUNK_MS = 320;
const PIECE_MS = 80;
const PIECE_SAMPLES = (PIECE_MS * VOICE_RATE_HZ) / 1000;
const quiet = (): void => {};
const LOG: Log = { trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet };

/** A pipeline; the test acts as microphone and canceller. */
function listen({ cancelEcho = false, canCancel = true, chunkMs = CHUNK_MS, failures = 0 } = {}) {
  const clock = createVirtualClock();
  const events: LaneEvent[] = [];
  const microphones: CaptureSink[] = [];
  const cancellers: {
    sink: EchoCancellerSink;
    calls: string[];
    given: [Uint8Array, number][];
    missing: number[];
  }[] = [];
  /** The period settings of the microphone (true: short), from its opening on. */
  const haste: boolean[] = [];
  let open = 0;
  const capturePipeline = new CapturePipeline({
    lane: 'main',
    clock,
    log: LOG,
    rateHz: VOICE_RATE_HZ,
    playedRateHz: VOICE_RATE_HZ,
    chunkMs,
    cancelEcho,
    createVoiceDetector: createEnergyDetector,
    openCapture: async (sink, shortPeriods = false) => {
      if (failures-- > 0) throw new Error('no such card');
      microphones.push(sink);
      haste.push(shortPeriods);
      open += 1;
      return {
        useShortPeriods: (on) => void haste.push(on),
        close: async () => {
          open -= 1;
        },
      };
    },
    openEchoCanceller: !canCancel
      ? undefined
      : (_, sink) => {
          const given: [Uint8Array, number][] = [];
          const canceller = { sink, calls: [] as string[], given, missing: [] as number[] };
          cancellers.push(canceller);
          return {
            played: () => void canceller.calls.push('played'),
            flushed: () => void canceller.calls.push('flushed'),
            captured: (pcm, capturedAt, missingMs) => {
              canceller.given.push([pcm, capturedAt]);
              canceller.missing.push(missingMs);
            },
            close: () => {
              canceller.calls.push('close');
              for (const [pcm, capturedAt] of canceller.given.splice(0)) sink.frames(pcm, capturedAt);
            },
          };
        },
    post: (event) => events.push(event),
  });
  capturePipeline.open();
  let pieces = 0;
  const last = <T>(all: readonly T[]): T => {
    const one = all.at(-1);
    if (one === undefined) throw new Error('there is none');
    return one;
  };
  return {
    clock,
    capturePipeline,
    events,
    haste,
    cancellers,
    get canceller() {
      return last(cancellers);
    },
    get microphone() {
      return last(microphones);
    },
    get open() {
      return open;
    },
    /** Delivers the next pieces, each with its number in every sample. */
    hear(count: number): void {
      for (let piece = 0; piece < count; piece++) {
        pieces += 1;
        const pcm = new Uint8Array(new Int16Array(PIECE_SAMPLES).fill(pieces).buffer);
        last(microphones).frames(pcm, pieces * PIECE_MS);
      }
    },
    /** The numbers of the pieces that reached the lane, in order. */
    get heard(): number[] {
      return events.flatMap((event) => {
        if (event.type !== 'captured') return [];
        const samples = new Int16Array(event.pcm.slice().buffer);
        return Array.from(
          { length: samples.length / PIECE_SAMPLES },
          (_, at) => samples[at * PIECE_SAMPLES] ?? 0,
        );
      });
    },
    types: () => events.map(({ type }) => type),
    statuses: () => events.flatMap((event) => (event.type === 'canceller' ? [event.status] : [])),
  };
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

describe('a microphone that cannot be opened', () => {
  it('is retried until it opens, reported once, and uses the latest period setting', async () => {
    const fixture = listen({ failures: 3 });
    await fixture.clock.elapse(0);
    fixture.capturePipeline.cancelEcho(true);
    await fixture.clock.elapse(6900);
    expect(fixture.open).toBe(0);
    await fixture.clock.elapse(200);
    expect(fixture.open).toBe(1);
    expect(fixture.haste).toEqual([true]);
    const faults = fixture.events.filter(({ type }) => type === 'audio_fault');
    expect(faults).toEqual([
      { type: 'audio_fault', device: 'capture', code: 'failed', message: 'no such card' },
    ]);
  });

  it('is not retried after the pipeline is closed', async () => {
    const fixture = listen({ failures: 1 });
    await fixture.clock.elapse(0);
    await fixture.capturePipeline.close();
    await fixture.clock.elapse(60_000);
    expect(fixture.open).toBe(0);
    expect(fixture.clock.armed).toBe(0);
  });
});

describe('a pipeline without a canceller', () => {
  it('gives the lane exact chunks with their times', () => {
    const deps = listen();
    deps.hear(9);
    const chunks = deps.events.filter((event) => event.type === 'captured');
    expect(chunks.map(({ capturedAt, pcm }) => [capturedAt, pcm.byteLength])).toEqual([
      [320, 15_360],
      [640, 15_360],
    ]);
    expect(deps.heard).toEqual(upTo(8));
  });

  it('reports that it has no canceller', () => {
    const deps = listen({ cancelEcho: true, canCancel: false });
    expect(deps.events).toEqual([
      { type: 'canceller', status: 'starting', message: '' },
      { type: 'canceller', status: 'failed', message: 'this machine has no echo canceller' },
    ]);
    deps.hear(4);
    expect(deps.heard).toEqual(upTo(4));
  });
});

describe('a pipeline with a canceller', () => {
  it('bypasses the canceller until it is ready, then uses it, and loses nothing in between', () => {
    const deps = listen({ cancelEcho: true });
    deps.hear(5);
    deps.canceller.sink.ready();
    deps.hear(7);
    expect(deps.heard).toEqual(upTo(4));
    expect(deps.canceller.given.length).toBe(7);
    for (const [pcm, capturedAt] of deps.canceller.given.splice(0, 5)) {
      deps.canceller.sink.frames(pcm, capturedAt);
    }
    expect(deps.heard).toEqual(upTo(8));
    deps.capturePipeline.cancelEcho(false);
    deps.hear(4);
    expect(deps.heard).toEqual(upTo(16));
    expect(deps.statuses()).toEqual(['starting', 'ready']);
  });

  it('reports the failure to the lane before the held sound', () => {
    const deps = listen({ cancelEcho: true });
    deps.canceller.sink.ready();
    deps.hear(4);
    const { sink, given } = deps.canceller;
    sink.failed('it broke');
    for (const [pcm, capturedAt] of given) sink.frames(pcm, capturedAt);
    deps.hear(4);
    expect(deps.types()).toEqual(['canceller', 'canceller', 'canceller', 'captured', 'captured']);
    expect(deps.heard).toEqual(upTo(8));
    deps.capturePipeline.cancelEcho(false);
    expect(deps.canceller.calls).toEqual([]);
  });

  it('gives the canceller the missing length of a chunk, whatever the canceller still holds', () => {
    const deps = listen({ cancelEcho: true });
    deps.hear(1);
    deps.canceller.sink.ready();
    deps.hear(5);
    expect(deps.canceller.missing).toEqual([160, 80, 0, 240, 160]);
    for (const [pcm, capturedAt] of deps.canceller.given.splice(0, 4)) {
      deps.canceller.sink.frames(pcm, capturedAt);
    }
    deps.hear(3);
    expect(deps.canceller.missing.slice(5)).toEqual([80, 0, 240]);
  });

  it('reports a complete chunk when a piece goes beyond its end', () => {
    const deps = listen({ cancelEcho: true, chunkMs: 200 });
    deps.canceller.sink.ready();
    deps.hear(6);
    expect(deps.canceller.missing).toEqual([120, 40, 0, 80, 0, 120]);
  });

  it('sets short periods on the microphone while echo is cancelled', async () => {
    const deps = listen();
    await deps.capturePipeline.close();
    deps.capturePipeline.cancelEcho(true);
    deps.capturePipeline.open();
    await Promise.resolve();
    deps.capturePipeline.cancelEcho(false);
    deps.capturePipeline.cancelEcho(true);
    expect(deps.haste).toEqual([false, true, false, true]);
  });

  it('has a canceller only while the microphone is open and the mode is cancel', async () => {
    const deps = listen();
    expect(deps.cancellers).toHaveLength(0);
    deps.capturePipeline.cancelEcho(true);
    deps.capturePipeline.cancelEcho(true);
    expect(deps.cancellers).toHaveLength(1);
    await deps.capturePipeline.close();
    expect(deps.canceller.calls).toEqual(['close']);
    deps.capturePipeline.open();
    expect(deps.cancellers).toHaveLength(2);
    await deps.capturePipeline.close();
    deps.capturePipeline.cancelEcho(false);
    deps.capturePipeline.open();
    expect(deps.cancellers).toHaveLength(2);
  });

  it("gives the canceller the loudspeaker's sound, also while the canceller is not ready", () => {
    const deps = listen({ cancelEcho: true });
    deps.capturePipeline.played(new Uint8Array(480), 100, false);
    deps.capturePipeline.flushed(120);
    expect(deps.canceller.calls).toEqual(['played', 'flushed']);
  });

  it('gives the lane the rest of a half word before the fault of the microphone', () => {
    const deps = listen();
    deps.hear(6);
    deps.microphone.fault({ code: 'lost', message: 'gone' });
    deps.microphone.fault({ code: 'not_found', message: 'still gone' });
    expect(deps.types()).toEqual(['captured', 'captured', 'audio_fault', 'audio_fault']);
    expect(deps.heard).toEqual([1, 2, 3, 4, 5, 6, 0, 0]);
    deps.hear(4);
    expect(deps.heard.slice(8)).toEqual([7, 8, 9, 10]);
  });

  it('gives nothing more to the lane after it is closed', async () => {
    const deps = listen({ cancelEcho: true });
    deps.canceller.sink.ready();
    deps.hear(6);
    const { microphone } = deps;
    await deps.capturePipeline.close();
    microphone.frames(new Uint8Array(9600), 1000);
    microphone.ended();
    microphone.fault({ code: 'lost', message: 'gone' });
    expect(deps.types()).toEqual(['canceller', 'canceller']);
    expect(deps.open).toBe(0);
  });
});

describe('a measurement of the pipeline', () => {
  it('reports the echo before the chunk with it', async () => {
    const people = await visitors();
    const said = interpreter(people, { shift: 0.8, beginS: 6 }).subarray(0, 10 * VOICE_RATE_HZ);
    const path = { delayMs: 130, gainDb: -10, rt60S: 0.3 };
    const deps = listen({ cancelEcho: true });
    perform(
      { played: said, heard: together(through(path, said), noise(said.length, -62, 5)), pieceMs: PIECE_MS },
      {
        play: (pcm, heardAt) => deps.capturePipeline.played(pcm, heardAt, true),
        capture: (pcm, capturedAt) => deps.microphone.frames(pcm, capturedAt),
      },
    );
    const found = deps.events.findIndex(({ type }) => type === 'echo_heard');
    const event = deps.events[found];
    if (event?.type !== 'echo_heard') throw new Error('no echo was heard');
    expect(event.heard).toBe('microphone');
    expect(Math.abs(event.measure.delayMs - 130)).toBeLessThan(5);
    expect(deps.events[found + 1]?.type).toBe('captured');
  });

  it('reports a microphone that delivers only zeros, until it is closed', async () => {
    const deps = listen();
    const zeros = (): void => deps.microphone.frames(toPcm(new Float32Array(24_000)), 1000);
    for (let second = 0; second < 12; second++) zeros();
    await deps.capturePipeline.close();
    const news = deps.events.filter((event) => event.type === 'capture_news');
    expect(news.map(({ finding, present }) => [finding, present])).toEqual([
      ['silent', true],
      ['silent', false],
    ]);
  });

  it('ignores the silence after the end of a recording', () => {
    const deps = listen();
    deps.hear(4);
    deps.microphone.ended();
    for (let second = 0; second < 30; second++)
      deps.microphone.frames(new Uint8Array(48_000), 2000 + second * 1000);
    expect(deps.types().filter((type) => type !== 'captured')).toEqual(['capture_ended']);
  });
});
