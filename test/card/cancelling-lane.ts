import { setTimeout as sleep } from 'node:timers/promises';
import { createCapture, createPlayback } from '../../src/adapters/audio/drivers/driver.ts';
import { createEchoCancellers } from '../../src/adapters/echo/canceller.ts';
import { CapturePipeline } from '../../src/device/lane/runner/capture-pipeline.ts';
import { createLatencyRecorder } from '../../src/device/lane/runner/latency.ts';
import { PlaybackPipeline } from '../../src/device/lane/runner/playback-pipeline.ts';
import type { LaneEvent } from '../../src/device/lane/state/lane-event.ts';
import type { OpenCapture } from '../../src/ports/audio.ts';
import type { Log } from '../../src/ports/log.ts';
import { createEnergyDetector } from '../../src/sound/energy-detector.ts';
import { toFloat, toPcm } from '../../src/sound/pcm.ts';
import { createEchoState, type Told } from '../echo/echo-state.ts';
import type { Judged } from '../echo/judge.ts';
import { BLOCK_SAMPLES, type Span } from '../echo/perform.ts';
import { clock, laneOf, RATE_HZ } from './card-lane.ts';

const quiet = (): void => {};
const LOG: Log = { trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet };
const CHUNK_MS = 320;
/** Length of the pieces that are written, and their lead (ms). */
const SLICE_MS = 100;
const AHEAD_MS = 500;

/** The time at which a sentence is heard, by the agent's clock. */
export interface Said {
  readonly from: number;
  readonly until: number;
}

/** Sound at the microphone beside that of its loudspeaker, from its first sample. */
export interface Around {
  readonly room: Float32Array;
  readonly visitor: Float32Array;
  readonly visited: readonly Span[];
}

/** A lane with echo cancelling on a card: the shipped pipelines, drivers and thread, and its results. */
export interface CancellingLane {
  readonly told: readonly Told[];
  /** Periods without a break of the loudspeaker. */
  readonly runs: ReadonlySet<number>;
  /** Plays a sentence; resolves when it has been heard. */
  say(sound: Float32Array): Promise<Said>;
  /** @param said the sentences to judge @param delayMs delay from loudspeaker to microphone */
  judged(around: Around, said: readonly Said[], delayMs: number): Judged;
  close(): Promise<void>;
}

/** @param thread the built thread of the canceller */
export async function openCancellingLane(device: string, thread: URL): Promise<CancellingLane> {
  const { capture, playback } = laneOf(device);
  const heard: Float32Array[] = [];
  const left: { sound: Float32Array; isOpen: boolean }[] = [];
  const runs = new Set<number>();
  const sounding: Said[] = [];
  let heardUntil = 0;
  const openCard = createCapture(capture, clock);
  /** Also keeps the captured sound unchanged. */
  const openCapture: OpenCapture = (sink, short) =>
    openCard(
      {
        ended: () => sink.ended(),
        fault: (fault) => sink.fault(fault),
        frames(pcm, capturedAt) {
          heard.push(toFloat(pcm));
          heardUntil = capturedAt;
          sink.frames(pcm, capturedAt);
        },
      },
      short,
    );
  const echo = createEchoState((on) => capturePipeline.cancelEcho(on));
  const post = (event: LaneEvent): void => {
    if (event.type === 'captured') left.push({ sound: toFloat(event.pcm), isOpen: echo.isOpen });
    if (event.type === 'sounding' && event.from !== null)
      sounding.push({ from: event.from, until: event.until });
    if (event.type === 'audio_fault') throw new Error(`a fault of the card: ${JSON.stringify(event)}`);
    echo.hear(event, clock.now());
  };
  const openEchoCanceller = createEchoCancellers({ clock, thread });
  const capturePipeline = new CapturePipeline({
    clock,
    lane: 'main',
    log: LOG,
    rateHz: RATE_HZ,
    playedRateHz: RATE_HZ,
    chunkMs: CHUNK_MS,
    openCapture,
    openEchoCanceller,
    createVoiceDetector: createEnergyDetector,
    cancelEcho: true,
    post,
  });
  capturePipeline.open();
  const playbackPipeline = new PlaybackPipeline({
    clock,
    volume: 100,
    rateHz: RATE_HZ,
    wireToSpeaker: createLatencyRecorder(),
    post,
    openPlayback: createPlayback(playback, RATE_HZ, clock),
    reference: {
      played(pcm, heardAt, goesOn, place) {
        runs.add(place?.run ?? -1);
        capturePipeline.played(pcm, heardAt, goesOn, place);
      },
      flushed: (at, place) => capturePipeline.flushed(at, place),
    },
  });
  await playbackPipeline.open();
  playbackPipeline.runOn(true);
  let write = 0;
  return {
    told: echo.told,
    runs,
    async say(sound) {
      const first = sounding.length;
      const pcm = toPcm(sound);
      const sliceBytes = ((RATE_HZ * SLICE_MS) / 1000) * 2;
      for (let at = 0; at < pcm.byteLength; at += sliceBytes) {
        const slice = pcm.subarray(at, at + sliceBytes);
        echo.played(slice);
        playbackPipeline.play({ type: 'play', pcm: slice, kind: 'speech', write: ++write, receivedAt: null });
        while ((sounding.at(-1)?.until ?? 0) - clock.now() > AHEAD_MS) await sleep(10);
      }
      const until = sounding.at(-1)?.until ?? 0;
      await sleep(Math.max(0, until - clock.now()));
      return { from: sounding[first]?.from ?? until, until };
    },
    judged(around, said, delayMs) {
      const all = joined(heard);
      const beganAt = heardUntil - (all.length * 1000) / RATE_HZ;
      const blockAt = (at: number): number =>
        Math.floor((((at + delayMs - beganAt) / 1000) * RATE_HZ) / BLOCK_SAMPLES);
      const spans = said.map(({ from, until }) => ({ from: blockAt(from), until: blockAt(until) + 1 }));
      const visited = around.visited.map(({ from, until }) => ({ from, until }));
      return { blocks: blocksOf(all, left, around), said: spans, visited };
    },
    async close() {
      await Promise.all([capturePipeline.close(), playbackPipeline.close()]);
    },
  };
}

function joined(pieces: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

function blocksOf(
  heard: Float32Array,
  left: readonly { sound: Float32Array; isOpen: boolean }[],
  { room, visitor }: Around,
): Judged['blocks'] {
  const count = Math.floor(heard.length / BLOCK_SAMPLES);
  const make = () => new Float32Array(count);
  const blocks = {
    heard: make(),
    room: make(),
    left: make(),
    visitor: make(),
    both: make(),
    isOpen: new Uint8Array(count),
  };
  const add = (to: Float32Array, at: number, value: number): void => {
    const block = Math.floor(at / BLOCK_SAMPLES);
    to[block] = (to[block] ?? 0) + value;
  };
  for (const [at, sample] of heard.entries()) {
    add(blocks.heard, at, sample ** 2);
    add(blocks.room, at, (room[at] ?? 0) ** 2);
    add(blocks.visitor, at, (visitor[at] ?? 0) ** 2);
  }
  // Cancelled sound is a block late. Whether it began with the first piece is not checked.
  let at = -BLOCK_SAMPLES;
  for (const { sound, isOpen } of left) {
    for (const sample of sound) {
      if (at >= 0) {
        add(blocks.left, at, sample ** 2);
        add(blocks.both, at, sample * (visitor[at] ?? 0));
        if (isOpen) blocks.isOpen[Math.floor(at / BLOCK_SAMPLES)] = 1;
      }
      at += 1;
    }
  }
  return blocks;
}
