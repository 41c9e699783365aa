import { createCapture, createPlayback } from '../../src/adapters/audio/drivers/driver.ts';
import { createSystemClock } from '../../src/adapters/clock.ts';
import { createLatencyRecorder } from '../../src/device/lane/runner/latency.ts';
import { PlaybackPipeline } from '../../src/device/lane/runner/playback-pipeline.ts';
import type { LaneEvent } from '../../src/device/lane/state/lane-event.ts';
import type { AudioFault, Capture, OpenCapture, OpenPlayback, Playback } from '../../src/ports/audio.ts';
import { configSchema } from '../../src/protocol/config.ts';
import { samplesOf } from '../../src/sound/pcm.ts';
import type { Stalls } from '../stalls.ts';
import type { Card } from './card.ts';
import { findOnset, withoutSilence } from './sound.ts';

export const RATE_HZ = 24_000;
export const clock = createSystemClock();
/** Time of `process.hrtime` (which the virtual card uses) when the agent's clock is 0. */
const CLOCK_ZERO_MS = Number(process.hrtime.bigint()) / 1e6 - clock.now();

/** Now, by the virtual card's clock. */
export const cardNow = (): number => clock.now() + CLOCK_ZERO_MS;

/** A lane's configuration for one device, with all defaults. */
export function laneOf(device: string) {
  const config = configSchema.parse({
    device: { id: 'kiosk', tenant: 'test' },
    mqtt: { url: 'mqtt://localhost' },
    lanes: [{ source: 'en', targets: ['es'], capture: { device }, playback: { device } }],
  });
  const [only] = config.lanes;
  if (only === undefined) throw new Error('there is no lane');
  return only;
}

export interface Heard {
  readonly pcm: Int16Array;
  /** Capture time of its last sample, as reported by the driver; by the card's clock. */
  readonly capturedAt: number;
  /** Time of its delivery, by the card's clock. */
  readonly cameAt: number;
}

/** A running capture driver and all its sound. */
export interface CapturePipeline {
  readonly capture: Capture;
  readonly heard: readonly Heard[];
  readonly faults: readonly (AudioFault & { atMs: number })[];
  /** All captured sound. */
  sound(): Int16Array;
  seconds(): number;
}

/** @param open by default the driver of a lane for this device */
export async function listen(
  device: string,
  open: OpenCapture = createCapture(laneOf(device).capture, clock),
): Promise<CapturePipeline> {
  const heard: Heard[] = [];
  const faults: (AudioFault & { atMs: number })[] = [];
  const capture = await open({
    frames: (pcm, capturedAt) =>
      void heard.push({
        pcm: samplesOf(pcm.slice()),
        capturedAt: capturedAt + CLOCK_ZERO_MS,
        cameAt: cardNow(),
      }),
    ended() {},
    fault: (fault) => void faults.push({ ...fault, atMs: cardNow() }),
  });
  return {
    capture,
    heard,
    faults,
    sound() {
      const all = new Int16Array(heard.reduce((sum, { pcm }) => sum + pcm.length, 0));
      let at = 0;
      for (const { pcm } of heard) {
        all.set(pcm, at);
        at += pcm.length;
      }
      return all;
    },
    seconds: () => heard.reduce((sum, { pcm }) => sum + pcm.length, 0) / RATE_HZ,
  };
}

/** A running playback driver. */
export interface Speaker {
  readonly playback: Playback;
  readonly faults: readonly (AudioFault & { atMs: number })[];
  /** Times at which it reported that it works again. */
  readonly backs: readonly number[];
  /** End of the written sound, by the driver's last measurement and the card's clock. */
  measured(): number;
  /** Writes sound. @returns the time at which it will be heard, by the card's clock */
  say(sound: Int16Array): number;
}

/** @param open by default the driver of a lane for this device */
export async function speak(
  device: string,
  rateHz = RATE_HZ,
  open: OpenPlayback = createPlayback(laneOf(device).playback, rateHz, clock),
): Promise<Speaker> {
  const faults: (AudioFault & { atMs: number })[] = [];
  const backs: number[] = [];
  let measured = Number.NaN;
  const playback = await open({
    fault: (fault) => void faults.push({ ...fault, atMs: cardNow() }),
    back: () => void backs.push(cardNow()),
    missed() {},
    measured: (heardUntil) => {
      measured = heardUntil + CLOCK_ZERO_MS;
    },
  });
  return {
    playback,
    faults,
    backs,
    measured: () => measured,
    say: (sound) => playback.write(new Uint8Array(sound.slice().buffer)).from + CLOCK_ZERO_MS,
  };
}

/** A lane's loudspeaker as in the agent, with its volume. */
export interface Loudspeaker {
  readonly playbackPipeline: PlaybackPipeline;
  /** Events that it sent to the lane. */
  readonly events: readonly LaneEvent['type'][];
  say(sound: Int16Array): void;
}

export async function openPipeline(device: string, volume: number): Promise<Loudspeaker> {
  const events: LaneEvent['type'][] = [];
  const playbackPipeline = new PlaybackPipeline({
    clock,
    volume,
    rateHz: RATE_HZ,
    wireToSpeaker: createLatencyRecorder(),
    openPlayback: createPlayback({ ...laneOf(device).playback, volume }, RATE_HZ, clock),
    post: ({ type }) => void events.push(type),
  });
  await playbackPipeline.open();
  let write = 0;
  return {
    playbackPipeline,
    events,
    say(sound) {
      const pcm = new Uint8Array(sound.slice().buffer);
      playbackPipeline.play({ type: 'play', kind: 'speech', pcm, write: ++write, receivedAt: null });
    },
  };
}

/** Position of each captured piece in the original sound, in order, and the missing parts between them. */
export function placesOf(
  capturePipeline: CapturePipeline,
  sound: Int16Array,
): { unknown: number; lostMs: number } {
  const heard = capturePipeline.sound();
  let [at, from, unknown, lost] = [0, 0, 0, 0];
  while (heard.length - at > 64) {
    const place = findOnset(sound, heard.subarray(at), from);
    if (place < 0) {
      unknown++;
      at++;
      continue;
    }
    lost += place - from;
    let same = 64;
    while (at + same < heard.length && heard[at + same] === sound[place + same]) same++;
    at += same;
    from = place + same;
  }
  return { unknown, lostMs: (lost * 1000) / RATE_HZ };
}

/** All sound that a card's loudspeaker has played, without silence. */
export const soundedBy = async ({ playback }: Card): Promise<Int16Array> =>
  withoutSilence(await playback.sound());

/** A device's fault, by the card's clock. */
type Fault = Pick<AudioFault, 'code'> & { readonly atMs: number };

/**
 * Stalls of this process and of the programs that had the card open. A stalled program is late, and the agent kills one that is too
 * late as hung.
 */
export function stallsWith(own: Stalls, card: Card, faults: readonly Fault[] = []): Stalls {
  const sides = [card.capture, card.playback];
  /** Lateness of the program at the card; infinite if it has never called the card. */
  const quietMs = ({ atMs }: Fault): number => {
    const known = sides.map((side) => side.quietMs(atMs)).filter(Number.isFinite);
    return known.length === 0 ? Number.POSITIVE_INFINITY : Math.max(0, ...known);
  };
  const lateMs = (): number[] => [
    ...sides.flatMap((side) => side.lateMs()),
    ...faults.filter(({ code }) => code === 'hung').map(quietMs),
  ];
  return {
    ms: () => lateMs().reduce((sum, ms) => sum + ms, own.ms()),
    longestMs: () => Math.max(own.longestMs(), ...lateMs()),
  };
}

/** Waits for a condition that must become true, even on a slow machine. */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  limitMs = 60_000,
  stepMs = 100,
): Promise<void> {
  const endsAt = clock.now() + limitMs;
  while (!(await isSo())) {
    if (clock.now() > endsAt) throw new Error(`after ${limitMs / 1000} s still not: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, stepMs));
  }
}
