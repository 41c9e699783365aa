import { type Direction, describeHolders, type Holder } from '../../adapters/audio/cards/card.ts';
import type { AudioFault, OpenCapture, OpenPlayback, Playback } from '../../ports/audio.ts';
import type { Clock } from '../../ports/clock.ts';
import { OUTPUT_RATE_HZ } from '../../ports/stream.ts';
import type { Config, LaneConfig } from '../../protocol/config.ts';
import { BYTES_PER_SAMPLE, toFloat, toPcm, volumeGain } from '../../sound/pcm.ts';
import { faultOf, type Listening, listen } from './checks/capture/listening.ts';
import {
  type HeardPiece,
  type HearingFacts,
  isHearingDoubtful,
  isRateDoubtful,
  judgeHearing,
  measureHearing,
} from './checks/capture/microphone-rules.ts';
import { type EchoFacts, judgeEcho, judgeFilePlayback } from './checks/playback/loudspeaker-rules.ts';
import { findTone, LONGEST_ECHO_MS, makeTone, TONE_MS } from './checks/playback/test-tone.ts';
import { about, type Check, type LaneOutcome, once } from './report/check.ts';
import { type Outcome, ok, problem } from './report/finding.ts';
import { BROKER_LIMIT_MS } from './servers.ts';
import { judgeDeviceFault } from './sound-devices/device-fault-rules.ts';
import { judgeDeviceInUse } from './sound-devices/device-in-use-rules.ts';

/** Dependencies of the sound checks. */
export interface SoundParts {
  readonly clock: Clock;
  /** May throw for devices that can never work. */
  openCapture(lane: LaneConfig): OpenCapture;
  openPlayback(lane: LaneConfig): OpenPlayback;
  /** The processes that have a kernel device open; empty if unknown. */
  holdersOf(device: string, direction: Direction): readonly Holder[];
  /** The process that holds the sound cards for itself; null: none does. */
  readonly agent: number | null;
  /** The status of the process `agent`; null if it does not answer. */
  readonly agentStatus?: () => Promise<{ readonly reasons: readonly string[] } | null>;
  /** Whether the tone is played; without it the loudspeaker stays untouched. */
  readonly plays: boolean;
}

const LISTEN_MS = 2000;
/** A doubtful rate is measured again for this long (ms), which averages out the delays of a busy machine. */
const LONGER_MS = 6000;
/** Timeout for opening a device (ms), the same as that of the drivers for their first try. */
const OPEN_LIMIT_MS = 10_000;
const LANE_LIMIT_MS = 30_000;
/** The search for the tone begins this much before its estimated time (ms): a driver's estimate may be late. */
const EARLIEST_MS = 500;

interface LaneSound {
  capture(): Promise<Outcome>;
  playback(): Promise<Outcome>;
}

/** Tests microphone and loudspeaker of every lane, one lane after the other: no lane may hear another's tone. */
export function soundChecks(parts: SoundParts, config: Config): { checks: Check[]; close(): Promise<void> } {
  const open = new Set<{ close(): Promise<void> }>();
  let before = async (): Promise<void> => {};
  const lanes = config.lanes.map((lane) => {
    const sound = examineLane(lane, parts, open);
    const previous = before;
    const capture = once(async () => {
      await previous();
      return sound.capture();
    });
    const playback = once(async () => {
      await capture();
      return sound.playback();
    });
    before = async () => void (await (parts.plays ? playback() : capture()));
    return { id: lane.id, capture, playback };
  });
  // A running agent is asked through the broker.
  const limitMs = LANE_LIMIT_MS * config.lanes.length + (parts.agent === null ? 0 : BROKER_LIMIT_MS);
  const each = (direction: 'capture' | 'playback') => async (): Promise<LaneOutcome[]> =>
    Promise.all(lanes.map(async (lane) => about(lane.id, await lane[direction]())));
  const checks: Check[] = [
    { name: 'capture', limitMs, run: each('capture') },
    ...(parts.plays ? [{ name: 'playback' as const, limitMs, run: each('playback') }] : []),
  ];
  return {
    checks,
    async close() {
      await Promise.allSettled([...open].map((device) => device.close()));
    },
  };
}

function examineLane(lane: LaneConfig, parts: SoundParts, open: Set<{ close(): Promise<void> }>): LaneSound {
  const { clock, agent, plays } = parts;
  const rateHz = lane.capture.sampleRate;
  const isHeld = (part: LaneConfig['capture'] | LaneConfig['playback']): boolean =>
    agent !== null && part.driver !== 'file';
  const judgeHeld = async (direction: Direction): Promise<Outcome> =>
    judgeDeviceInUse({
      direction,
      lane: lane.id,
      device: nameOf(lane[direction]),
      agent: agent ?? 0,
      reasons: (await parts.agentStatus?.())?.reasons ?? [],
    });
  let listening: Listening | null = null;
  let tone: Outcome | null = null;
  const stop = async (): Promise<void> => {
    if (listening !== null) open.delete(listening);
    await listening?.close();
  };
  return {
    async capture() {
      if (isHeld(lane.capture)) return await judgeHeld('capture');
      listening = await listen(() => parts.openCapture(lane), rateHz, clock);
      open.add(listening);
      const facts = await hear(listening, rateHz);
      let wasSilentBeforeTone: boolean | null = null;
      // A noise gate closes in a quiet room: silence does not prove a dead microphone.
      const canPlay = plays && lane.playback.driver !== 'file' && !isHeld(lane.playback);
      if (canPlay && lane.capture.driver !== 'file' && listening.fault === null && isHearingDoubtful(facts)) {
        tone = await playTone(lane, listening, parts, open);
        wasSilentBeforeTone = facts.zero === 1;
      }
      if (!plays) await stop();
      if (listening.fault !== null) return faulty(nameOf(lane.capture), listening.fault, 'capture', parts);
      return judge(listening, wasSilentBeforeTone === null ? facts : null, lane, wasSilentBeforeTone);
    },
    async playback() {
      if (lane.playback.driver === 'file') {
        await stop();
        return judgeFilePlayback(lane.playback.path);
      }
      try {
        if (isHeld(lane.playback)) return await judgeHeld('playback');
        return tone ?? (await playTone(lane, listening, parts, open));
      } finally {
        await stop();
      }
    },
  };
}

async function hear(listening: Listening, rateHz: number): Promise<HearingFacts> {
  await listening.until(1, OPEN_LIMIT_MS);
  if (listening.fault === null) await listening.until(LISTEN_MS, LISTEN_MS * 2);
  const facts = measureHearing(listening.pieces, rateHz);
  if (listening.fault !== null || !isRateDoubtful(facts)) return facts;
  await listening.until(LONGER_MS, LONGER_MS * 2);
  return measureHearing(listening.pieces, rateHz);
}

/** @param given null: measures all sound so far, including the tone */
function judge(
  { pieces }: Listening,
  given: HearingFacts | null,
  { capture }: LaneConfig,
  wasSilentBeforeTone: boolean | null,
): Outcome {
  const device = nameOf(capture);
  const facts = given ?? measureHearing(pieces, capture.sampleRate);
  return judgeHearing(facts, { device, isRecording: capture.driver === 'file', wasSilentBeforeTone });
}

async function playTone(
  lane: LaneConfig,
  listening: Listening | null,
  parts: SoundParts,
  open: Set<{ close(): Promise<void> }>,
): Promise<Outcome> {
  const { clock, openPlayback } = parts;
  const device = nameOf(lane.playback);
  let fault: AudioFault | null = null;
  let measured: number | null = null;
  let playback: Playback;
  try {
    playback = await openPlayback(lane)({
      fault: (given) => {
        fault = given;
      },
      back: () => {},
      // A card that misses the tone reports a fault. A program may just start more slowly.
      missed: () => {},
      measured: (heardUntil) => {
        measured = heardUntil;
      },
    });
  } catch (error) {
    return faulty(device, faultOf(error), 'playback', parts);
  }
  open.add(playback);
  try {
    const { volume } = lane.playback;
    // A card's own volume stays as it is; without one, the lane's volume scales every sound.
    const gain = playback.mixer === null ? volumeGain(volume) : 1;
    const tone = playback.write(toPcm(makeTone(OUTPUT_RATE_HZ, gain)));
    await wait(clock, tone.from - clock.now() + TONE_MS + LONGEST_ECHO_MS);
    if (fault !== null) return faulty(device, fault, 'playback', parts);
    const canHear = listening !== null && listening.fault === null && lane.capture.driver !== 'file';
    if (!canHear) return ok(`${device} took the tone; no microphone is available to hear it`);
    const dueAt = (measured ?? tone.until) - TONE_MS;
    const heard = findEcho(listening.pieces, lane.capture.sampleRate, dueAt, gain);
    return judgeEcho({ device, mode: lane.echo, volume, heard });
  } finally {
    open.delete(playback);
    await playback.close();
  }
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

function faulty(
  device: string,
  { code, message }: AudioFault,
  direction: Direction,
  { holdersOf }: SoundParts,
): Outcome {
  const holders = code === 'busy' ? holdersOf(device, direction) : [];
  if (holders.length > 0)
    return problem(`${device} is held by ${describeHolders(holders)}`, adviseOn(holders), { device, code });
  return judgeDeviceFault(device, { code, message });
}

/**
 * How to free a card that another program holds. A desktop's sound server restarts itself until its socket is masked.
 */
function adviseOn(holders: readonly Holder[]): string {
  const has = (program: RegExp): boolean => holders.some((holder) => program.test(holder.program));
  const mask = (units: string): string =>
    `Stop this sound server permanently, as the desktop's user: systemctl --user mask --now ${units}`;
  if (has(/^(pipewire|wireplumber)/)) return mask('pipewire.socket pipewire wireplumber');
  if (has(/^pulseaudio/)) return mask('pulseaudio.socket pulseaudio');
  return 'End that program.';
}

export function nameOf(part: {
  readonly driver: string;
  readonly device?: string;
  readonly path?: string;
  readonly command?: readonly string[];
}): string {
  return part.device ?? part.path ?? part.command?.[0] ?? part.driver;
}

function wait(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.at(clock.now() + ms, resolve);
  });
}
