/** Recognises a phrase in sound with gaps: an emulated card has underruns. */
import { decodeAdpcm } from '../../../src/sound/adpcm.ts';
import { samplesOf } from '../../../src/sound/pcm.ts';
import { likeness } from '../../card/likeness.ts';
import type { Board } from './board.ts';

const FOLDER = '/usr/share/dragoman/phrases/en';
const HEARD_HZ = 24_000;
/** Length of a compared piece (s): about a word, so that several fit between two gaps. */
const PIECE_S = 0.4;
/** Length of the chime (s), which is the same for all phrases of one kind. */
const CHIME_S = 1.2;

/** Similarity of the sound with each phrase of the image (median over all pieces), best first. */
export async function likenessOfPhrases(
  board: Pick<Board, 'read'>,
  heard: Int16Array,
  codes: readonly string[],
): Promise<[code: string, likeness: number][]> {
  const found: [string, number][] = [];
  for (const code of codes) {
    const sound = decodeAdpcm(await board.read(`${FOLDER}/${code}.wav`));
    if (sound === null) throw new Error(`${code} is not a phrase`);
    found.push([code, Number(median(pieces(samplesOf(sound.pcm), sound.rateHz, heard)).toFixed(3))]);
  }
  return found.sort(([, one], [, other]) => other - one);
}

function pieces(phrase: Int16Array, rateHz: number, heard: Int16Array): number[] {
  const length = Math.round(PIECE_S * rateHz);
  const found: number[] = [];
  for (let at = Math.round(CHIME_S * rateHz); at + length <= phrase.length; at += length)
    found.push(likeness(heard, HEARD_HZ, phrase.subarray(at, at + length), rateHz));
  return found;
}

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
