import { describe, expect, it } from 'vitest';
import {
  type Floor,
  FREE_FLOOR,
  type Heard,
  hearSlot,
  isOpen,
  isOthers,
  SLOT_MS,
} from '../../../../src/device/lane/room/floor.ts';

type Voice = 'left' | 'right' | 'both' | 'nobody';

/** How much each microphone hears of each person: the far one hears 8 dB less. */
const HEARD: Readonly<Record<Voice, Heard>> = {
  left: [24, 16],
  right: [16, 24],
  both: [25, 25],
  nobody: [1, 0],
};

/** Plays what is said, and shows who has the floor in each slot of 20 ms. */
class Talk {
  floor: Floor = FREE_FLOOR;
  slot = 0;

  say(voice: Voice | Heard, ms: number): this {
    for (let left = ms; left > 0; left -= SLOT_MS) {
      this.floor = hearSlot(this.floor, this.slot++, typeof voice === 'string' ? HEARD[voice] : voice);
    }
    return this;
  }
  /** Whose sound the slots are: l, r or - for either. */
  between(fromMs: number, untilMs: number): string {
    let seen = '';
    for (let slot = fromMs / SLOT_MS; slot < untilMs / SLOT_MS; slot++) {
      const whose = isOthers(this.floor, 1, slot) ? 'l' : isOthers(this.floor, 0, slot) ? 'r' : '-';
      if (!seen.endsWith(whose)) seen += whose;
    }
    return seen;
  }
}

describe('the floor', () => {
  it('goes to the nearer person within 200 ms, from the beginning of the sentence', () => {
    const talk = new Talk().say('nobody', 1000).say('right', 200);
    expect(talk.floor.holder).toBe(1);
    expect(talk.between(1000, 1200)).toBe('r');
  });

  it('goes to the microphone that heard it first when both hear it equally', () => {
    const talk = new Talk().say('nobody', 500).say([0, 14], 40).say([20, 20], 200);
    expect(talk.floor.holder).toBe(1);
  });

  it.each([
    ['the first', 0, [10, 8], [20, 21]],
    ['the second', 1, [8, 10], [21, 20]],
  ] as const)(
    'goes to %s that heard it when the other one hears less than 2 dB more',
    (_name, side, begin, rest) => {
      const talk = new Talk().say('nobody', 500).say(begin, 20).say(rest, 140);
      expect(talk.floor.holder).toBe(side);
    },
  );

  it.each([
    ['22.9', 22.9, 1],
    ['23', 23, 0],
  ])(
    'goes to the louder one from 2 dB on, although the other one heard it first: %s dB',
    (_name, db, side) => {
      // In all eight slots the first one hears 6 * (db - 20) - 2 * 1 dB more.
      const talk = new Talk().say('nobody', 500).say([8, 9], 40).say([db, 20], 120);
      expect(talk.floor.holder).toBe(side);
    },
  );

  it('is not changed by a click, and not held by one', () => {
    const talk = new Talk().say('nobody', 500).say([0, 40], 40).say('nobody', 400);
    expect(talk.floor).toMatchObject({ holder: null, contest: null });
  });

  it('passes to the other person as soon as that one answers', () => {
    const talk = new Talk().say('nobody', 500).say('left', 2000).say('nobody', 60).say('right', 1000);
    expect(talk.between(500, 2500)).toBe('l');
    expect(talk.between(2560, 3560)).toBe('r');
  });

  it('stays in the breaths of a sentence', () => {
    const talk = new Talk().say('left', 1000);
    for (let word = 0; word < 6; word++) talk.say('nobody', 280).say('left', 300);
    expect(talk.between(200, talk.slot * SLOT_MS)).toBe('l');
  });

  it('is decided once when both speak at once', () => {
    const talk = new Talk().say('nobody', 500).say('left', 600);
    // Over the breaths of the one who has it.
    for (let word = 0; word < 6; word++) talk.say('both', 400).say('right', 240);
    expect(talk.between(500, talk.slot * SLOT_MS)).toBe('l');
  });

  it('passes to the one who spoke over the other when that one has ended', () => {
    const talk = new Talk().say('nobody', 500).say('left', 1000).say('both', 300).say('right', 3000);
    expect(talk.floor.holder).toBe(1);
    expect(talk.between(2500, 4000)).toBe('r');
  });

  it('is known of the newest sixteen turns', () => {
    const talk = new Talk();
    for (let turn = 0; turn < 17; turn++)
      talk.say(turn % 2 === 0 ? 'left' : 'right', 1000).say('nobody', 1000);
    expect(talk.between(0, 1000)).toBe('-');
    expect(talk.between(2000, 3000)).toBe('r');
    expect(talk.between(30_000, 31_000)).toBe('r');
    expect(talk.between(32_000, 33_000)).toBe('l');
  });

  it.each([
    ['680 ms', 680, 0],
    ['700 ms', 700, null],
  ])('is held for 0.7 s after the last word: after %s', (_name, quietMs, holder) => {
    const talk = new Talk().say('left', 1000).say('nobody', quietMs);
    expect(talk.floor.holder).toBe(holder);
  });

  it.each([
    ['140 ms', 140, null],
    ['160 ms', 160, 1],
  ])('is decided by the first 160 ms: after %s', (_name, ms, holder) => {
    expect(new Talk().say('nobody', 500).say('right', ms).floor.holder).toBe(holder);
  });

  it.each([
    [60, null],
    [80, 1],
  ])('needs 80 ms of voice: %s ms', (voicedMs, holder) => {
    const talk = new Talk().say('nobody', 500).say('right', voicedMs).say('nobody', 300);
    expect(talk.floor.holder).toBe(holder);
  });

  it('leaves the soft beginning of a word to its speaker, 60 ms before the voice', () => {
    const talk = new Talk().say('nobody', 1000).say('right', 300);
    expect(talk.between(900, 940)).toBe('-');
    expect(talk.between(940, 1300)).toBe('r');
  });

  it('is open from 60 ms before a voice until it is decided', () => {
    const talk = new Talk().say('nobody', 500).say('right', 140);
    expect([440, 460, 480, 620].map((ms) => isOpen(talk.floor, (ms - SLOT_MS) / SLOT_MS))).toEqual([
      false,
      true,
      true,
      true,
    ]);
    expect(isOpen(talk.say('right', 20).floor, 30)).toBe(false);
  });

  it('is free after a sentence', () => {
    const talk = new Talk().say('left', 1000).say('nobody', 800);
    expect(talk.floor.holder).toBeNull();
    expect(talk.between(1800, 2000)).toBe('-');
  });
});
