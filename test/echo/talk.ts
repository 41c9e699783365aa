import type { Dice } from '../sim/dice.ts';
import { RATE_HZ } from '../voices/recordings.ts';
import { atLevel, speechLevelDb } from '../voices/room.ts';

/** A speaker with one sentence after the other at known times. */
export interface Talker {
  /** The next block of speech. */
  next(samples: number): Float32Array;
  /** The sentences so far, oldest first; the last one may continue. */
  readonly sentences: readonly { readonly from: number; readonly until: number }[];
}

export interface TalkerOptions {
  readonly dice: Dice;
  readonly levelDb: number;
  readonly pauseS: { readonly least: number; readonly most: number };
  /** Sample before which there is no speech. */
  readonly from?: number;
  /** Returns true to leave out the next sentence. */
  readonly isSilent?: () => boolean;
  /** Returns one sentence at its recorded level. */
  sentence(dice: Dice): Float32Array;
}

export function createTalker({ dice, levelDb, pauseS, from = 0, isSilent, sentence }: TalkerOptions): Talker {
  const sentences: { from: number; until: number }[] = [];
  let at = 0;
  let sound: Float32Array = new Float32Array(0);
  let beganAt = 0;
  let nextAt = from;
  const begin = (): void => {
    const said = sentence(dice);
    const isLeftOut = isSilent?.() ?? false;
    sound = isLeftOut ? new Float32Array(said.length) : atLevel(said.slice(), levelDb, speechLevelDb(said));
    beganAt = nextAt;
    const until = beganAt + sound.length;
    if (!isLeftOut) sentences.push({ from: beganAt, until });
    nextAt = until + Math.round(dice.between(pauseS.least, pauseS.most) * RATE_HZ);
  };
  return {
    sentences,
    next(samples) {
      const block = new Float32Array(samples);
      for (let index = 0; index < samples; index++, at++) {
        if (at === nextAt) begin();
        const place = at - beganAt;
        if (place >= 0 && place < sound.length) block[index] = sound[place] ?? 0;
      }
      return block;
    },
  };
}
