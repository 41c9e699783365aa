import { join } from 'node:path';
import { readBoundedFile, UnreadableFile } from '../adapters/config/read-file.ts';

/** The card image reports its problems at this boot here, a sentence per line. */
const CARD_PROBLEMS = 'run/dragoman-image/problems';
const LARGEST_BYTES = 10_000;
const CARD = 'The card: ';
export const NOT_IN_EFFECT = 'Not in effect: ';
/** Prefixes of notes that stay true until their cause is removed, not only for one run. */
const STANDING: readonly string[] = [CARD, NOT_IN_EFFECT];
const isStanding = (note: string): boolean => STANDING.some((beginning) => note.startsWith(beginning));

/** The problems with the card that the image has found. */
export function notesOnCard(root: string): string[] {
  try {
    const { bytes } = readBoundedFile(join(root, CARD_PROBLEMS), LARGEST_BYTES);
    const lines = bytes.toString('utf8').split('\n');
    return lines.filter((line) => line !== '').map((line) => `${CARD}${line}`);
  } catch (error) {
    if (error instanceof UnreadableFile) return [];
    throw error;
  }
}

/** Whether a status has standing notes other than these. */
export function hasOtherNotes(status: string, notes: readonly string[]): boolean {
  const reported = status.split(/\r?\n/).flatMap((line) => {
    const text = line.replace(/^- /, '');
    return isStanding(text) ? [text] : [];
  });
  const standing = notes.filter(isStanding);
  return reported.length !== standing.length || reported.some((line) => !standing.includes(line));
}
