import { loudnessOf } from './k-weighting.ts';

/** Measured loudness of a voice, and its gain. Plain data. */
export interface VoiceLevel {
  /** Number of speech blocks heard, up to a limit. */
  readonly blocks: number;
  /** Mean of weighted squares of its speech over some seconds. */
  readonly mean: number;
  /** Weighted squares of the last speech blocks. */
  readonly last: readonly number[];
  /** Loudness (LUFS) of all blocks of the last seconds, to recognise pauses. */
  readonly recent: readonly number[];
  readonly gainDb: number;
}

/** Length of a measured block (ms). */
export const BLOCK_MS = 100;
/** Target loudness (LUFS) of all voices: the average of neural voices, so that most voices change little. */
export const TARGET_LUFS = -20;
/** Largest gain or attenuation of a voice (dB). */
export const MOST_GAIN_DB = 15;
/** Loudness below which a block is not speech (LUFS). */
const SILENCE_LUFS = -48;
/** A block further than this below the loudest recent one (dB) is breath or recording noise. */
const PAUSE_DB = 15;
const RECENT_BLOCKS = 20;
/** Minimum spread of recent blocks in speech (dB); a smaller spread is noise in a pause. */
const LEAST_SPREAD_DB = 6;
const MEAN_BLOCKS = 40;
const LAST_BLOCKS = 10;
/** A greater difference between the last second and the mean (dB) means another speaker. */
const CHANGED_DB = 5;
/** Number of speech blocks needed before the gain may change. */
const FEWEST_BLOCKS = 3;
/** Speed of the gain (dB per block): too slow to notice, faster for a voice far from the target. */
const SLEW_DB = { near: 3 * (BLOCK_MS / 1000), far: 8 * (BLOCK_MS / 1000), isFar: 6 } as const;
/** Smaller differences (dB) are inaudible and ignored, so that the gain stands still. */
const DEAD_BAND_DB = 0.7;

export const UNKNOWN_VOICE: VoiceLevel = {
  blocks: 0,
  mean: 0,
  last: [],
  recent: [],
  gainDb: 0,
};

/** Takes one block; in a pause only `recent` changes. @param power mean of its weighted squares */
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
