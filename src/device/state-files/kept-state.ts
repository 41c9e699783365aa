import type { Log } from '../../ports/log.ts';
import type { StateFile, StateFound } from '../../ports/state-file.ts';
import type { Reading } from './versioned-file.ts';

export interface KeptState<T> {
  /** Null: nothing is kept across restarts. */
  readonly file: StateFile | null;
  readonly log: Log;
  parse(text: string): Reading<T>;
  /**
   * Called when the disk delivers the content late: changes since the start are newer. Nothing is written before this.
   */
  late(content: T): void;
}

/**
 * The content from the last run; null if there is none or it is unreadable, which is logged with the file's name.
 * @param lost the log sentence: what is lost, and what follows
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
    file.putAside?.();
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
      log.info({ file: file.name }, 'the disk delivered the saved state late; it is used from here on');
    late(content);
  });
  return null;
}
