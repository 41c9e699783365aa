import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type CardWatch,
  createCardWatch,
  type WatchFolder,
} from '../../../../src/adapters/audio/cards/card-watch.ts';
import { createSystemClock } from '../../../../src/adapters/clock.ts';
import { createVirtualClock, type VirtualClock } from '../../../virtual-clock.ts';
import { headset, headsetLines, layOut, type Machine, NO_CARDS } from './machines.ts';

/** Stands for the kernel's notices, which the test sends. */
function createNotices() {
  let listener: { changed(name: string | null): void; lost(): void } | null = null;
  let isRefusing = false;
  let watched = 0;
  const watchFolder: WatchFolder = (_folder, changed, lost) => {
    if (isRefusing) throw new Error('no space left on device');
    watched += 1;
    listener = { changed, lost };
    return () => {
      listener = null;
    };
  };
  return {
    watchFolder,
    say: (name: string | null) => listener?.changed(name),
    lose: () => listener?.lost(),
    refuse: (on: boolean) => {
      isRefusing = on;
    },
    get isWatching() {
      return listener !== null;
    },
    get watched() {
      return watched;
    },
  };
}

describe('the card watch', () => {
  let machine: Machine;
  let clock: VirtualClock;
  let notices: ReturnType<typeof createNotices>;
  let watch: CardWatch;
  let reported: number[];
  const listen = () => watch.whenCardsChange(() => reported.push(clock.now()));
  const plug = (index: number): void => {
    machine.write('proc/asound/cards', headsetLines(index, 'Device', '1.3'));
    for (const [path, text] of Object.entries(headset(index, 'Device', '1.3'))) machine.write(path, text);
  };
  const unplug = (index: number): void => {
    machine.write('proc/asound/cards', '--- no soundcards ---\n');
    for (const name of [`controlC${index}`, `pcmC${index}D0c`, `pcmC${index}D0p`])
      machine.remove(`dev/snd/${name}`);
  };
  beforeEach(() => {
    machine = layOut(NO_CARDS);
    clock = createVirtualClock(0);
    notices = createNotices();
    reported = [];
    watch = createCardWatch({ clock, folders: machine, watchFolder: notices.watchFolder });
  });
  afterEach(() => {
    watch.close();
    machine.clear();
    expect(clock.armed).toBe(0);
    expect(notices.isWatching).toBe(false);
  });

  it('reports a burst of changes once, after it has settled', () => {
    listen();
    clock.advance(1000);
    plug(1);
    for (const name of ['controlC1', 'pcmC1D0c', 'pcmC1D0p']) {
      notices.say(name);
      clock.advance(100);
    }
    expect(reported).toEqual([]);
    clock.advance(1000);
    expect(reported).toEqual([1500]);
  });

  it('reports changes even when the burst never settles', () => {
    listen();
    plug(1);
    for (let step = 0; step < 50; step++) {
      notices.say('controlC1');
      clock.advance(100);
    }
    expect(reported).toEqual([2000]);
  });

  it('reports a card that comes back under another number', () => {
    listen();
    plug(1);
    notices.say('controlC1');
    clock.advance(1000);
    unplug(1);
    notices.say('controlC1');
    clock.advance(1000);
    plug(2);
    notices.say('controlC2');
    clock.advance(1000);
    expect(reported).toEqual([300, 1300, 2300]);
  });

  it('does not report when nothing has changed, or when it is not a sound device', () => {
    listen();
    notices.say('controlC0');
    notices.say('pcmC0D0c');
    clock.advance(10_000);
    plug(1);
    notices.say('midiC1D0');
    notices.say('seq');
    clock.advance(4000);
    expect(reported).toEqual([]);
  });

  it('polls slowly while the folder cannot be watched, and watches again later', () => {
    notices.refuse(true);
    listen();
    clock.advance(20_000);
    plug(1);
    clock.advance(9000);
    expect(reported).toEqual([]);
    clock.advance(1000);
    expect(reported).toEqual([30_000]);
    notices.refuse(false);
    clock.advance(15_000);
    expect(notices.isWatching).toBe(true);
    expect(reported).toEqual([30_000]);
  });

  it('still finds changes after the folder was removed with its last card', () => {
    listen();
    plug(1);
    notices.say('controlC1');
    clock.advance(1000);
    unplug(1);
    machine.remove('dev/snd');
    notices.refuse(true);
    notices.lose();
    clock.advance(1000);
    expect(reported).toEqual([300, 1300]);
    notices.refuse(false);
    mkdirSync(join(machine.dev, 'snd'));
    plug(1);
    clock.advance(15_000);
    expect(reported).toHaveLength(3);
    expect(notices.watched).toBe(2);
  });

  it('reports to all present listeners, and to no former one', () => {
    const ends = [listen(), listen(), listen()];
    ends[1]?.();
    plug(1);
    notices.say('controlC1');
    clock.advance(1000);
    expect(reported).toEqual([300, 300]);
    ends[0]?.();
    ends[2]?.();
    ends[2]?.();
    expect(notices.isWatching).toBe(false);
    expect(clock.armed).toBe(0);
  });

  it('accepts a new listener during a report', () => {
    let end = (): void => {};
    const again = (): void => {
      reported.push(clock.now());
      end();
      end = watch.whenCardsChange(again);
    };
    end = watch.whenCardsChange(again);
    plug(1);
    clock.advance(15_000);
    unplug(1);
    clock.advance(15_000);
    expect(reported).toEqual([15_000, 30_000]);
    expect(clock.armed).toBe(1);
  });
});

describe('the kernel’s own notices', () => {
  it('arrive when files appear and disappear in a real folder, and when it is removed', async () => {
    const machine = layOut(NO_CARDS);
    const watch = createCardWatch({ clock: createSystemClock(), folders: machine });
    try {
      let tell = (): void => {};
      const next = () => new Promise<void>((resolve) => (tell = resolve));
      watch.whenCardsChange(() => tell());
      // The slow look comes after 15 s: what comes within 10 s is the kernel's notice.
      const appeared = next();
      machine.write('dev/snd/controlC1', '');
      await within(appeared, 10_000);
      const vanished = next();
      machine.remove('dev/snd/controlC1');
      await within(vanished, 10_000);
      const again = next();
      machine.write('dev/snd/controlC1', '');
      await within(again, 10_000);
      const gone = next();
      machine.remove('dev/snd');
      await within(gone, 10_000);
    } finally {
      watch.close();
      machine.clear();
    }
  });
});

async function within(promise: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing in ${ms} ms`)), ms);
  });
  await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
