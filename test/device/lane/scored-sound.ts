import type { ChunkLevels } from '../../../src/sound/speech/noise-floor.ts';
import { CHUNK_MS, type LaneHarness } from './lane-harness.ts';
import { nextPcm, PAUSE, SPEECH } from './sound.ts';

/** Sound that is scored as a whole: a sure voice, an unsure one, and noise. */
export const SURE = 1;
export const UNSURE = -3;
export const NOISE = -9;

function listen(lane: LaneHarness, ms: number, levels: ChunkLevels): void {
  for (const end = lane.now + ms; lane.now < end; ) {
    lane.pass(CHUNK_MS);
    lane.step({
      type: 'captured',
      capturedAt: lane.now,
      pcm: nextPcm(levels.isSpeech === true),
      levels,
    });
  }
}

/** Loud sound with the rhythm of syllables, for this long. */
export function hearScored(lane: LaneHarness, ms: number, score: number): void {
  listen(lane, ms, { ...SPEECH, isSpeech: true, talk: { score, roomDb: -40 } });
}

/** A quiet room. */
export function hearNothing(lane: LaneHarness, ms: number): void {
  listen(lane, ms, { ...PAUSE, isSpeech: false, talk: { score: -40, roomDb: -40 } });
}
