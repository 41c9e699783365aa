import { join } from 'node:path';
import { readBoundedFile, UnreadableFile } from '../config/read-file.ts';

/** Where the image for a card tells what was wrong with it at this boot, a sentence on each line. */
const CARD_PROBLEMS = 'run/dragoman-image/problems';
const LARGEST_BYTES = 10_000;
const BEGINNING = 'The card: ';

/** What is wrong with the card itself, where the image has found something. */
export function notesOnCard(root: string): string[] {
  try {
    const { bytes } = readBoundedFile(join(root, CARD_PROBLEMS), LARGEST_BYTES);
    const lines = bytes.toString('utf8').split('\n');
    return lines.filter((line) => line !== '').map((line) => `${BEGINNING}${line}`);
  } catch (error) {
    if (error instanceof UnreadableFile) return [];
    throw error;
  }
}

/** Whether a status tells other things of the card than these notes. */
export function tellsOtherwise(status: string, notes: readonly string[]): boolean {
  const told = status.split(/\r?\n/).flatMap((line) => {
    const text = line.replace(/^- /, '');
    return text.startsWith(BEGINNING) ? [text] : [];
  });
  const found = notes.filter((note) => note.startsWith(BEGINNING));
  return told.length !== found.length || told.some((line) => !found.includes(line));
}
