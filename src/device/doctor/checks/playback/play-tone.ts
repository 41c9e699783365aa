import type { AudioFault, OpenPlayback, Playback } from '../../../../ports/audio.ts';
import type { Clock } from '../../../../ports/clock.ts';
import { OUTPUT_RATE_HZ } from '../../../../ports/stream.ts';
import type { LaneConfig } from '../../../../protocol/config.ts';
import { BYTES_PER_SAMPLE, toFloat, toPcm, volumeGain } from '../../../../sound/pcm.ts';
import { type Outcome, ok } from '../../report/finding.ts';
import { type HoldersOf, judgeOpened } from '../../sound-devices/device-holders.ts';
import { nameOf } from '../../sound-devices/device-name.ts';
import { faultOf, type Listening } from '../capture/listening.ts';
import type { HeardPiece } from '../capture/microphone-rules.ts';
import { type EchoFacts, judgeEcho } from './loudspeaker-rules.ts';
import { findTone, LONGEST_ECHO_MS, makeTone, TONE_MS } from './test-tone.ts';

/** The search for the tone begins this much before its estimated time (ms): a driver's estimate may be late. */
const EARLIEST_MS = 500;

export interface ToneParts {
  readonly clock: Clock;
  /** May throw for devices that can never work. */
  openPlayback(lane: LaneConfig): OpenPlayback;
  readonly holdersOf: HoldersOf;
  /** The devices to close if the doctor ends early. */
  readonly open: Set<{ close(): Promise<void> }>;
}

/** What a loudspeaker reports while it plays the tone. */
interface Report {
  fault: AudioFault | null;
  heardUntil: number | null;
}

/** Plays the tone on a lane's loudspeaker, and looks for it in what the lane's microphone hears. */
export async function playTone(
  lane: LaneConfig,
  listening: Listening | null,
  parts: ToneParts,
): Promise<Outcome> {
  const { open, holdersOf } = parts;
  const device = nameOf(lane.playback);
  const report: Report = { fault: null, heardUntil: null };
  let playback: Playback;
  try {
    playback = await openSpeaker(lane, parts, report);
  } catch (error) {
    return judgeOpened(device, faultOf(error), 'playback', holdersOf);
  }
  open.add(playback);
  try {
    const { volume } = lane.playback;
    // A card's own volume stays as it is; without one, the lane's volume scales every sound.
    const gain = playback.mixer === null ? volumeGain(volume) : 1;
    const until = await playWhole(playback, gain, parts.clock);
    if (report.fault !== null) return judgeOpened(device, report.fault, 'playback', holdersOf);
    const canHear = listening !== null && listening.fault === null && lane.capture.driver !== 'file';
    if (!canHear) return ok(`${device} took the tone; no microphone is available to hear it`);
    const dueAt = (report.heardUntil ?? until) - TONE_MS;
    const heard = findEcho(listening.pieces, lane.capture.sampleRate, dueAt, gain);
    return judgeEcho({ device, mode: lane.echo, volume, heard });
  } finally {
    open.delete(playback);
    await playback.close();
  }
}

function openSpeaker(lane: LaneConfig, { openPlayback }: ToneParts, report: Report): Promise<Playback> {
  return openPlayback(lane)({
    fault: (given) => {
      report.fault = given;
    },
    back: () => {},
    // A card that misses the tone reports a fault. A program may just start more slowly.
    missed: () => {},
    measured: (heardUntil) => {
      report.heardUntil = heardUntil;
    },
  });
}

/** Plays the tone, and waits for its echo. Resolves to the estimated end of the tone. */
async function playWhole(playback: Playback, gain: number, clock: Clock): Promise<number> {
  const tone = playback.write(toPcm(makeTone(OUTPUT_RATE_HZ, gain)));
  const waitMs = tone.from - clock.now() + TONE_MS + LONGEST_ECHO_MS;
  await new Promise<void>((resolve) => void clock.at(clock.now() + waitMs, resolve));
  return tone.until;
}

/** Searches the recording for the tone, starting shortly before the tone was due. */
function findEcho(
  pieces: readonly HeardPiece[],
  rateHz: number,
  dueAt: number,
  gain: number,
): EchoFacts['heard'] {
  let samples = 0;
  // A piece can arrive late but never early, so the earliest estimate of the beginning is the best.
  let beganAt = Number.POSITIVE_INFINITY;
  for (const { pcm, capturedAt } of pieces) {
    samples += pcm.byteLength / BYTES_PER_SAMPLE;
    beganAt = Math.min(beganAt, capturedAt - (samples * 1000) / rateHz);
  }
  const whole = new Uint8Array(samples * BYTES_PER_SAMPLE);
  let place = 0;
  for (const { pcm } of pieces) {
    whole.set(pcm.subarray(0, whole.length - place), place);
    place += pcm.byteLength;
  }
  const from = Math.max(0, Math.round(((dueAt - EARLIEST_MS - beganAt) * rateHz) / 1000));
  const heardTone = findTone(toFloat(whole.subarray(from * BYTES_PER_SAMPLE)), rateHz, gain);
  if (heardTone === null) return null;
  const delayMs = beganAt + (from * 1000) / rateHz + heardTone.atMs - dueAt;
  return { delayMs: Math.max(0, delayMs), gainDb: heardTone.gainDb, snrDb: heardTone.snrDb };
}
