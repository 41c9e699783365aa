import { loudnessOf } from './k-weighting.ts';

/** What is known of how loud a voice speaks, and the gain that it has. Plain data. */
export interface VoiceLevel {
  /** Blocks of its speech that were heard, as far as they count. */
  readonly blocks: number;
  /** Mean of weighted squares of its speech, over seconds. */
  readonly mean: number;
  /** Those of the last blocks of speech. */
  readonly last: readonly number[];
  /** The last seconds block by block, LUFS: what is far below the loudest is a pause. */
  readonly recent: readonly number[];
  readonly gainDb: number;
}

/** Length of the blocks by which a voice is measured. */
export const BLOCK_MS = 100;
/** All voices are brought to this loudness: what neural voices have in the middle, so that volume 100 stays as loud as it was. */
export const TARGET_LUFS = -20;
/** No voice is changed by more. */
export const MOST_GAIN_DB = 15;
/** Softer than this is no speech, whatever the voice. */
const SILENCE_LUFS = -48;
/** What is this far below the loudest of the last seconds is a breath or the noise of a recording. */
const PAUSE_DB = 15;
const RECENT_BLOCKS = 20;
/** Syllables rise and fall by more; what does not is noise that somebody left in a pause. */
const LEAST_SPREAD_DB = 6;
const MEAN_BLOCKS = 40;
const LAST_BLOCKS = 10;
/** Another voice: the last second differs from those before by this much. */
const CHANGED_DB = 5;
/** Before this much speech nobody knows how loud it is. */
const FEWEST_BLOCKS = 3;
/** No ear follows a change as slow as this; a voice that is far off comes near faster. */
const SLEW_DB = { near: 3 * (BLOCK_MS / 1000), far: 8 * (BLOCK_MS / 1000), isFar: 6 } as const;
/** A difference that nobody hears is left alone, so that the gain stands still. */
const DEAD_BAND_DB = 0.7;

export const UNKNOWN_VOICE: VoiceLevel = {
  blocks: 0,
  mean: 0,
  last: [],
  recent: [],
  gainDb: 0,
};

/** Takes in one block. In a pause nothing changes. @param power mean of its weighted squares */
export function hearBlock(voice: VoiceLevel, power: number): VoiceLevel {
  const lufs = loudnessOf(power);
  const recent = [...voice.recent, Math.max(lufs, SILENCE_LUFS)].slice(-RECENT_BLOCKS);
  const peak = Math.max(...recent);
  const isSpeech =
    lufs > SILENCE_LUFS && lufs >= peak - PAUSE_DB && peak - Math.min(...recent) >= LEAST_SPREAD_DB;
  if (!isSpeech) return { ...voice, recent };
  const blocks = voice.blocks + 1;
  const last = [...voice.last, power].slice(-LAST_BLOCKS);
  const lately = last.reduce((sum, one) => sum + one, 0) / last.length;
  const mean = voice.mean + (power - voice.mean) / Math.min(blocks, MEAN_BLOCKS);
  const hasChanged =
    last.length === LAST_BLOCKS && Math.abs(loudnessOf(lately) - loudnessOf(mean)) > CHANGED_DB;
  const heard = hasChanged
    ? { blocks: LAST_BLOCKS, mean: lately, last, recent }
    : { blocks: Math.min(blocks, MEAN_BLOCKS), mean, last, recent };
  return { ...heard, gainDb: blocks < FEWEST_BLOCKS ? voice.gainDb : slew(voice.gainDb, heard.mean) };
}

function slew(gainDb: number, power: number): number {
  const wanted = Math.min(MOST_GAIN_DB, Math.max(-MOST_GAIN_DB, TARGET_LUFS - loudnessOf(power)));
  const off = wanted - gainDb;
  if (Math.abs(off) <= DEAD_BAND_DB) return gainDb;
  const most = Math.abs(off) > SLEW_DB.isFar ? SLEW_DB.far : SLEW_DB.near;
  return gainDb + Math.min(most, Math.max(-most, off));
}
