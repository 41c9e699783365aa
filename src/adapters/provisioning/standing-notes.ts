import { join } from 'node:path';
import { readBoundedFile, UnreadableFile } from '../config/read-file.ts';

/** Where the image for a card tells what was wrong with it at this boot, a sentence on each line. */
const CARD_PROBLEMS = 'run/dragoman-image/problems';
const LARGEST_BYTES = 10_000;
const CARD = 'The card: ';
export const NOT_IN_EFFECT = 'Not in effect: ';
/** Of notes that hold for as long as what they are about, not for one run alone. */
const STANDING: readonly string[] = [CARD, NOT_IN_EFFECT];
const isStanding = (note: string): boolean => STANDING.some((beginning) => note.startsWith(beginning));

/** What is wrong with the card itself, where the image has found something. */
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

/** Whether a status has other standing notes than these. */
export function tellsOtherwise(status: string, notes: readonly string[]): boolean {
  const told = status.split(/\r?\n/).flatMap((line) => {
    const text = line.replace(/^- /, '');
    return isStanding(text) ? [text] : [];
  });
  const found = notes.filter(isStanding);
  return told.length !== found.length || told.some((line) => !found.includes(line));
}
