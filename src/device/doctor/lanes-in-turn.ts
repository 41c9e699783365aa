import type { Direction } from '../../adapters/audio/cards/card.ts';
import type { OpenCapture } from '../../ports/audio.ts';
import type { Config, LaneConfig } from '../../protocol/config.ts';
import { type Listening, listen } from './checks/capture/listening.ts';
import { examineMicrophone } from './checks/capture/microphone-check.ts';
import { judgeFilePlayback } from './checks/playback/loudspeaker-rules.ts';
import { playTone, type ToneParts } from './checks/playback/play-tone.ts';
import { about, type LaneOutcome, once } from './report/check.ts';
import type { Outcome } from './report/finding.ts';
import { judgeDeviceInUse } from './sound-devices/device-in-use-rules.ts';
import { nameOf } from './sound-devices/device-name.ts';

export interface SoundParts extends Omit<ToneParts, 'open'> {
  /** May throw for devices that can never work. */
  openCapture(lane: LaneConfig): OpenCapture;
  /** The process that holds the sound cards for itself; null: none does. */
  readonly agent: number | null;
  /** The status of the process `agent`; null if it does not answer. */
  readonly agentStatus?: () => Promise<{ readonly reasons: readonly string[] } | null>;
  /** Whether the tone is played; without it the loudspeaker stays untouched. */
  readonly plays: boolean;
}

/** Microphone and loudspeaker of every lane; each is tested once. */
export interface LanesInTurn {
  capture(): Promise<readonly LaneOutcome[]>;
  playback(): Promise<readonly LaneOutcome[]>;
  close(): Promise<void>;
}

interface LaneSound {
  capture(): Promise<Outcome>;
  playback(): Promise<Outcome>;
}

/** Tests one lane after the other: no lane may hear another's tone. */
export function createLanesInTurn(parts: SoundParts, config: Config): LanesInTurn {
  const open: ToneParts['open'] = new Set();
  let before = async (): Promise<void> => {};
  const lanes = config.lanes.map((lane) => {
    const sound = examineLane(lane, { ...parts, open });
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
  const each = (direction: Direction) => async (): Promise<LaneOutcome[]> =>
    Promise.all(lanes.map(async (lane) => about(lane.id, await lane[direction]())));
  return {
    capture: each('capture'),
    playback: each('playback'),
    async close() {
      await Promise.allSettled([...open].map((device) => device.close()));
    },
  };
}

/** A lane's microphone stays open for its loudspeaker's tone. */
function examineLane(lane: LaneConfig, parts: SoundParts & ToneParts): LaneSound {
  const { clock, plays, open } = parts;
  const { capture, playback } = lane;
  let listening: Listening | null = null;
  const tone = once(() => playTone(lane, listening, parts));
  const stop = async (): Promise<void> => {
    if (listening !== null) open.delete(listening);
    await listening?.close();
  };
  return {
    async capture() {
      if (isHeld(capture, parts)) return await judgeHeld('capture', lane, parts);
      listening = await listen(() => parts.openCapture(lane), capture.sampleRate, clock);
      open.add(listening);
      const canPlay = plays && playback.driver !== 'file' && !isHeld(playback, parts);
      const outcome = await examineMicrophone(lane, listening, canPlay ? tone : null, parts.holdersOf);
      if (!plays) await stop();
      return outcome;
    },
    async playback() {
      try {
        if (playback.driver === 'file') return judgeFilePlayback(playback.path);
        return await (isHeld(playback, parts) ? judgeHeld('playback', lane, parts) : tone());
      } finally {
        await stop();
      }
    },
  };
}

function isHeld(part: LaneConfig['capture'] | LaneConfig['playback'], { agent }: SoundParts): boolean {
  return agent !== null && part.driver !== 'file';
}

async function judgeHeld(
  direction: Direction,
  lane: LaneConfig,
  { agent, agentStatus }: SoundParts,
): Promise<Outcome> {
  return judgeDeviceInUse({
    direction,
    lane: lane.id,
    device: nameOf(lane[direction]),
    agent: agent ?? 0,
    reasons: (await agentStatus?.())?.reasons ?? [],
  });
}
