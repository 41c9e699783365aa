import { describe, expect, it } from 'vitest';
import { Ears } from '../../src/agent/ears.ts';
import { createEnergyDetector } from '../../src/core/audio/energy-detector.ts';
import { toPcm } from '../../src/core/audio/pcm.ts';
import type { LaneEvent } from '../../src/core/lane/event.ts';
import type { CaptureSink } from '../../src/ports/audio.ts';
import type { EchoCancellerSink } from '../../src/ports/echo.ts';
import type { Log } from '../../src/ports/log.ts';
import { interpreter, noise, perform, through, together, VOICE_RATE_HZ, visitors } from '../acoustics.ts';

const CHUNK_MS = 320;
const PIECE_MS = 80;
const PIECE_SAMPLES = (PIECE_MS * VOICE_RATE_HZ) / 1000;
const quiet = (): void => {};
const LOG: Log = { trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet };

/** Ears before a microphone and a canceller that are the test's. */
function listen({ cancelEcho = false, canCancel = true, chunkMs = CHUNK_MS } = {}) {
  const events: LaneEvent[] = [];
  const microphones: CaptureSink[] = [];
  const cancellers: {
    sink: EchoCancellerSink;
    calls: string[];
    given: [Uint8Array, number][];
    missing: number[];
  }[] = [];
  /** Whether the microphone was told to hurry: when it was opened, and later. */
  const haste: boolean[] = [];
  let open = 0;
  const ears = new Ears({
    ...{ lane: 'main', log: LOG, rateHz: VOICE_RATE_HZ, playedRateHz: VOICE_RATE_HZ, chunkMs, cancelEcho },
    createVoiceDetector: createEnergyDetector,
    openCapture: async (sink, hastened = false) => {
      microphones.push(sink);
      haste.push(hastened);
      open += 1;
      return {
        hasten: (on) => void haste.push(on),
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
  ears.open();
  let pieces = 0;
  const last = <T>(all: readonly T[]): T => {
    const one = all.at(-1);
    if (one === undefined) throw new Error('there is none');
    return one;
  };
  return {
    ears,
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
    /** The next pieces, each of which has its number in every sample. */
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

describe('ears without a canceller', () => {
  it('give the lane exact chunks with their times', () => {
    const world = listen();
    world.hear(9);
    const chunks = world.events.filter((event) => event.type === 'captured');
    expect(chunks.map(({ capturedAt, pcm }) => [capturedAt, pcm.byteLength])).toEqual([
      [320, 15_360],
      [640, 15_360],
    ]);
    expect(world.heard).toEqual(upTo(8));
  });

  it('say so where there is none', () => {
    const world = listen({ cancelEcho: true, canCancel: false });
    expect(world.events).toEqual([
      { type: 'canceller', status: 'starting', message: '' },
      { type: 'canceller', status: 'failed', message: 'there is no canceller here' },
    ]);
    world.hear(4);
    expect(world.heard).toEqual(upTo(4));
  });
});

describe('ears with a canceller', () => {
  it('go around it until it is ready, then through it, and lose nothing on the way', () => {
    const world = listen({ cancelEcho: true });
    world.hear(5);
    world.canceller.sink.ready();
    world.hear(7);
    expect(world.heard).toEqual(upTo(4));
    expect(world.canceller.given.length).toBe(7);
    for (const [pcm, capturedAt] of world.canceller.given.splice(0, 5)) {
      world.canceller.sink.frames(pcm, capturedAt);
    }
    expect(world.heard).toEqual(upTo(8));
    world.ears.cancelEcho(false);
    world.hear(4);
    expect(world.heard).toEqual(upTo(16));
    expect(world.statuses()).toEqual(['starting', 'ready']);
  });

  it('tell the lane that it failed before they give what it held', () => {
    const world = listen({ cancelEcho: true });
    world.canceller.sink.ready();
    world.hear(4);
    const { sink, given } = world.canceller;
    sink.failed('it broke');
    for (const [pcm, capturedAt] of given) sink.frames(pcm, capturedAt);
    world.hear(4);
    expect(world.types()).toEqual(['canceller', 'canceller', 'canceller', 'captured', 'captured']);
    expect(world.heard).toEqual(upTo(8));
    world.ears.cancelEcho(false);
    expect(world.canceller.calls).toEqual([]);
  });

  it('tell it how much of a chunk is missing, whatever is still with it', () => {
    const world = listen({ cancelEcho: true });
    world.hear(1);
    world.canceller.sink.ready();
    world.hear(5);
    expect(world.canceller.missing).toEqual([160, 80, 0, 240, 160]);
    for (const [pcm, capturedAt] of world.canceller.given.splice(0, 4)) {
      world.canceller.sink.frames(pcm, capturedAt);
    }
    world.hear(3);
    expect(world.canceller.missing.slice(5)).toEqual([80, 0, 240]);
  });

  it('tell it that one is complete where a piece goes beyond its end', () => {
    const world = listen({ cancelEcho: true, chunkMs: 200 });
    world.canceller.sink.ready();
    world.hear(6);
    expect(world.canceller.missing).toEqual([120, 40, 0, 80, 0, 120]);
  });

  it('hurry the microphone while echo is cancelled', async () => {
    const world = listen();
    await world.ears.close();
    world.ears.cancelEcho(true);
    world.ears.open();
    await Promise.resolve();
    world.ears.cancelEcho(false);
    world.ears.cancelEcho(true);
    expect(world.haste).toEqual([false, true, false, true]);
  });

  it('have one only while the microphone is open and it is wanted', async () => {
    const world = listen();
    expect(world.cancellers).toHaveLength(0);
    world.ears.cancelEcho(true);
    world.ears.cancelEcho(true);
    expect(world.cancellers).toHaveLength(1);
    await world.ears.close();
    expect(world.canceller.calls).toEqual(['close']);
    world.ears.open();
    expect(world.cancellers).toHaveLength(2);
    await world.ears.close();
    world.ears.cancelEcho(false);
    world.ears.open();
    expect(world.cancellers).toHaveLength(2);
  });

  it('show it what the loudspeaker sounds, also while it is not ready', () => {
    const world = listen({ cancelEcho: true });
    world.ears.played(new Uint8Array(480), 100, false);
    world.ears.flushed(120);
    expect(world.canceller.calls).toEqual(['played', 'flushed']);
  });

  it('give the lane the half word that a microphone had heard when it broke off, before the news of it', () => {
    const world = listen();
    world.hear(6);
    world.microphone.fault({ code: 'lost', message: 'gone' });
    world.microphone.fault({ code: 'not_found', message: 'still gone' });
    expect(world.types()).toEqual(['captured', 'captured', 'audio_fault', 'audio_fault']);
    expect(world.heard).toEqual([1, 2, 3, 4, 5, 6, 0, 0]);
    world.hear(4);
    expect(world.heard.slice(8)).toEqual([7, 8, 9, 10]);
  });

  it('give nothing more to the lane once they are closed', async () => {
    const world = listen({ cancelEcho: true });
    world.canceller.sink.ready();
    world.hear(6);
    const { microphone } = world;
    await world.ears.close();
    microphone.frames(new Uint8Array(9600), 1000);
    microphone.ended();
    microphone.fault({ code: 'lost', message: 'gone' });
    expect(world.types()).toEqual(['canceller', 'canceller']);
    expect(world.open).toBe(0);
  });
});

describe('what the ears measure', () => {
  it('the loudspeaker in the microphone, told before the chunk in which it was found', async () => {
    const people = await visitors();
    const said = interpreter(people, { shift: 0.8, beginS: 6 }).subarray(0, 10 * VOICE_RATE_HZ);
    const path = { delayMs: 130, gainDb: -10, rt60S: 0.3 };
    const world = listen({ cancelEcho: true });
    perform(
      { played: said, heard: together(through(path, said), noise(said.length, -62, 5)), pieceMs: PIECE_MS },
      {
        play: (pcm, heardAt) => world.ears.played(pcm, heardAt, true),
        capture: (pcm, capturedAt) => world.microphone.frames(pcm, capturedAt),
      },
    );
    const found = world.events.findIndex(({ type }) => type === 'echo_heard');
    const event = world.events[found];
    if (event?.type !== 'echo_heard') throw new Error('no echo was heard');
    expect(event.heard).toBe('microphone');
    expect(Math.abs(event.measure.delayMs - 130)).toBeLessThan(5);
    expect(world.events[found + 1]?.type).toBe('captured');
  });

  it('a microphone that delivers nothing but zeros, until it is closed', async () => {
    const world = listen();
    const zeros = (): void => world.microphone.frames(toPcm(new Float32Array(24_000)), 1000);
    for (let second = 0; second < 12; second++) zeros();
    await world.ears.close();
    const news = world.events.filter((event) => event.type === 'capture_news');
    expect(news.map(({ finding, present }) => [finding, present])).toEqual([
      ['silent', true],
      ['silent', false],
    ]);
  });

  it('but not the silence behind the end of a recording', () => {
    const world = listen();
    world.hear(4);
    world.microphone.ended();
    for (let second = 0; second < 30; second++)
      world.microphone.frames(new Uint8Array(48_000), 2000 + second * 1000);
    expect(world.types().filter((type) => type !== 'captured')).toEqual(['capture_ended']);
  });
});
