import { type FSWatcher, statSync, watch } from 'node:fs';
import { join } from 'node:path';
import type { WhenCardsChange } from '../../../ports/audio.ts';
import type { Clock } from '../../../ports/clock.ts';
import { listIfReadable, readIfReadable } from '../../if-readable.ts';
import { MACHINE_FOLDERS, type MachineFolders } from './card.ts';

export interface CardWatchOptions {
  readonly clock: Clock;
  readonly folders?: MachineFolders;
  /** Reports changes in a folder as the kernel sees them; Node's own by default, replaced in tests. */
  readonly watchFolder?: WatchFolder;
}

/** @throws when the folder is absent or cannot be watched */
export type WatchFolder = (
  folder: string,
  changed: (name: string | null) => void,
  lost: () => void,
) => () => void;

export interface CardWatch {
  readonly whenCardsChange: WhenCardsChange;
  close(): void;
}

/** Quiet time (milliseconds) after which a change is complete: a new card makes several files and gets permissions later. */
const SETTLE_MS = 300;
/** Longest wait for quiet (milliseconds): a card that never settles is reported anyway. */
const LONGEST_SETTLE_MS = 2000;
/** Polling interval (milliseconds), for systems without file watches and for missed events. A poll lists only a few files. */
const LOOK_EVERY_MS = 15_000;

/** The files of a card that can be opened for sound; others, such as MIDI, change with every note. */
const SOUND_FILE = /^(controlC|pcmC)\d/;

/** Notices when sound cards come and go, without polling at a high rate. Watches only while there is a listener. */
export function createCardWatch(options: CardWatchOptions): CardWatch {
  const { clock, folders = MACHINE_FOLDERS, watchFolder = watchByKernel } = options;
  const folder = join(folders.dev, 'snd');
  const listeners = new Set<() => void>();
  let seen = '';
  let unwatch: (() => void) | null = null;
  let cancelLook = (): void => {};
  let cancelSettle = (): void => {};
  let settleBy: number | null = null;

  /** Looks now, and reports a difference from the last look. */
  const look = (): void => {
    cancelSettle();
    settleBy = null;
    // The folder itself appears with the first card and disappears with the last.
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
      // The folder is absent, or no watches are left: the slow polling continues and tries again.
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
    whenCardsChange(callback) {
      const listener = (): void => callback();
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

/** All that can make a failed device usable: the cards, their files, and the owners of those files. */
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
    // A removed folder causes one last event, with the folder's own name or none.
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
