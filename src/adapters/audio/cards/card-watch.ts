import { type FSWatcher, statSync, watch } from 'node:fs';
import { join } from 'node:path';
import type { WhenCardsChange } from '../../../ports/cards.ts';
import type { Clock } from '../../../ports/clock.ts';
import { listIfReadable, readIfReadable } from '../../if-readable.ts';
import { MACHINE_FOLDERS, type MachineFolders } from './card.ts';

export interface CardWatchOptions {
  readonly clock: Clock;
  readonly folders?: MachineFolders;
  /** Tells of changes in a folder as the kernel notices them; Node's, unless a test has its own. */
  readonly watchFolder?: WatchFolder;
}

/** @throws where the folder is not there or can't be watched */
export type WatchFolder = (
  folder: string,
  changed: (name: string | null) => void,
  lost: () => void,
) => () => void;

export interface CardWatch {
  readonly whenCardsChange: WhenCardsChange;
  close(): void;
}

/** A card that is plugged in makes several files, and gets its permissions a moment later: quiet for this long is done. */
const SETTLE_MS = 300;
/** A card that never settles is told of all the same. */
const LONGEST_SETTLE_MS = 2000;
/** Where nothing can be watched, and for what a watch misses: how often one looks. A look costs a few file names. */
const LOOK_EVERY_MS = 15_000;

/** The files of a card that can be opened for sound; others, such as MIDI, change with every note. */
const SOUND_FILE = /^(controlC|pcmC)\d/;

/** Notices that sound cards come and go, without asking all the time. Watches only while somebody listens. */
export function createCardWatch(options: CardWatchOptions): CardWatch {
  const { clock, folders = MACHINE_FOLDERS, watchFolder = watchByKernel } = options;
  const folder = join(folders.dev, 'snd');
  const listeners = new Set<() => void>();
  let seen = '';
  let unwatch: (() => void) | null = null;
  let cancelLook = (): void => {};
  let cancelSettle = (): void => {};
  let settleBy: number | null = null;

  /** Looks now, and tells if anything is different from the last look. */
  const look = (): void => {
    cancelSettle();
    settleBy = null;
    // The folder itself comes and goes with the first and the last card.
    ensureWatched();
    const picture = pictureOf(folders);
    if (picture === seen) return;
    seen = picture;
    for (const listener of [...listeners]) if (listeners.has(listener)) listener();
  };
  const settle = (name: string | null): void => {
    if (name !== null && !SOUND_FILE.test(name)) return;
    const now = clock.now();
    settleBy ??= now + LONGEST_SETTLE_MS;
    cancelSettle();
    cancelSettle = clock.at(Math.min(now + SETTLE_MS, settleBy), look);
  };
  const unwatchFolder = (): void => {
    unwatch?.();
    unwatch = null;
  };
  const ensureWatched = (): void => {
    if (unwatch !== null || listeners.size === 0) return;
    try {
      unwatch = watchFolder(folder, settle, () => {
        unwatchFolder();
        settle(null);
      });
    } catch {
      // Not there, or no watches left: the slow look goes on, and tries again.
    }
  };
  const lookLater = (): void => {
    cancelLook = clock.at(clock.now() + LOOK_EVERY_MS, () => {
      lookLater();
      look();
    });
  };
  const stop = (): void => {
    listeners.clear();
    cancelLook();
    cancelSettle();
    settleBy = null;
    unwatchFolder();
  };

  return {
    whenCardsChange(tell) {
      const listener = (): void => tell();
      listeners.add(listener);
      if (listeners.size === 1) {
        ensureWatched();
        seen = pictureOf(folders);
        lookLater();
      }
      return () => {
        if (listeners.delete(listener) && listeners.size === 0) stop();
      };
    },
    close: stop,
  };
}

/** All by which a device that could not be opened may become one that can: the cards, their files, whose they are. */
function pictureOf({ proc, dev }: MachineFolders): string {
  const folder = join(dev, 'snd');
  const files = listIfReadable(folder).filter((name) => SOUND_FILE.test(name));
  return [
    readIfReadable(join(proc, 'asound', 'cards')) ?? '',
    ...files.sort().map((name) => describeFile(folder, name)),
  ].join('\n');
}

function describeFile(folder: string, name: string): string {
  try {
    const { ino, mode, uid, gid } = statSync(join(folder, name));
    return `${name} ${ino} ${mode} ${uid} ${gid}`;
  } catch {
    return name;
  }
}

const watchByKernel: WatchFolder = (folder, changed, lost) => {
  const { ino } = statSync(folder);
  const watcher: FSWatcher = watch(folder, { persistent: false }, (_event, name) => {
    // A folder that is removed tells of it under its own name, or none, and then never again.
    if (isSameFolder(folder, ino)) changed(name);
    else lost();
  });
  watcher.on('error', lost);
  return () => watcher.close();
};

function isSameFolder(folder: string, ino: number): boolean {
  try {
    return statSync(folder).ino === ino;
  } catch {
    return false;
  }
}
