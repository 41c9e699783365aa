import { closeSync, constants, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { type DecodedSound, decodeAdpcm } from '../../sound/adpcm.ts';
import { toFloat, toPcm } from '../../sound/pcm.ts';
import { createResampler } from './resampler.ts';

/** Folder of the sounds that scripts/build-phrases makes. */
export const PHRASES_FOLDER = '/usr/share/dragoman/phrases';
const MENU_FOLDER = 'menu';

const MOST_BYTES = 1_000_000;

/** Reads a sound; null when the file is missing, damaged or not a sound of this kind. */
export function readRecorded(path: string): DecodedSound | null {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    const stat = fstatSync(file);
    if (!stat.isFile() || stat.size > MOST_BYTES) return null;
    const bytes = new Uint8Array(stat.size);
    return decodeAdpcm(bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0)));
  } catch {
    return null;
  } finally {
    closeSync(file);
  }
}

/** The samples at another rate. @throws if the resampler is not installed */
export async function samplesAt({ pcm, rateHz }: DecodedSound, toHz: number): Promise<Uint8Array> {
  const resampler = await createResampler({ fromHz: rateHz, toHz });
  try {
    return toPcm(resampler.convert(toFloat(pcm)));
  } finally {
    resampler.close();
  }
}

/** Loads a sound of the spoken menu as samples for the loudspeaker; null: there is no such sound. */
export type LoadMenuSound = (language: string, sound: string) => Promise<Uint8Array | null>;

/** Null: the sounds of the spoken menu are not installed. */
export function openMenuSounds(toHz: number, phrases = PHRASES_FOLDER): LoadMenuSound | null {
  const folder = join(phrases, MENU_FOLDER);
  if (!existsSync(folder)) return null;
  return async (language, sound) => {
    const recorded = readRecorded(join(folder, language, `${sound}.wav`));
    return recorded === null ? null : await samplesAt(recorded, toHz);
  };
}
