import type { Log } from '../../ports/log.ts';
import type { StateFile, StateFound } from '../../ports/state-file.ts';
import type { Reading } from './versioned-file.ts';

export interface KeptState<T> {
  /** Null: nothing outlives the program. */
  readonly file: StateFile | null;
  readonly log: Log;
  parse(text: string): Reading<T>;
  /**
   * The disk has brought it after all, and meanwhile other things have happened: what is known by now is newer. Until then
   * nothing is written over it.
   */
  late(content: T): void;
}

/**
 * What was kept for this start; null where there is nothing, and where it cannot be read: that is told, with the file.
 * @param lost a sentence: what is not known any more, and what follows from that
 */
export function readKept<T>({ file, log, parse, late }: KeptState<T>, lost: string): T | null {
  if (file === null) return null;
  const take = (found: StateFound): T | null => {
    if (found.kind === 'none') return null;
    if (found.kind === 'unreadable') {
      log.warn({ file: file.name, reason: found.why }, lost);
      return null;
    }
    const read = parse(found.text);
    if (read.kind === 'kept') return read.content;
    const more = read.kind === 'newer' ? { version: read.version } : { reason: 'it is damaged' };
    log.warn({ file: file.name, ...more }, lost);
    return null;
  };
  const reading = file.read();
  if (reading.kind !== 'awaited') return take(reading);
  const { isOverdue } = reading;
  if (isOverdue) log.warn({ file: file.name, reason: 'the disk takes too long' }, lost);
  reading.whenFound((found) => {
    const content = take(found);
    if (content === null) return;
    if (isOverdue)
      log.info({ file: file.name }, 'the disk has brought what was kept; it counts from here on');
    late(content);
  });
  return null;
}
