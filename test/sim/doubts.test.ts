import { describe, expect, it } from 'vitest';
import { createDoubts } from './doubts.ts';
import { createSaidAccount } from './said.ts';
import { createSeams } from './seams.ts';
import { createTickList } from './tick-list.ts';
import { createViolations } from './violations.ts';

const upTo = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, index) => from + index);

interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** A service that says what it says, and a device of which nothing is known but what it sends. @param isTruthful its times are true */
function world(isTruthful = true) {
  const timesSent = createTickList(0);
  const sendings = createTickList<{ connection: number; at: number } | undefined>(undefined);
  const over = new Set<number>();
  const seams = createSeams(timesSent, () => true);
  const doubts = createDoubts({
    ...{
      seams,
      sentOf: sendings.get,
      placeOf: (tick) => tick * 20,
      isOver: (connection) => over.has(connection),
    },
    times: { isExact: () => false, isLying: () => false, isTruthful: () => isTruthful },
  });
  const violations = createViolations(() => 0);
  const said = createSaidAccount(violations, doubts.isDoubtful);
  let [id, now] = [0, 0];
  return {
    doubts,
    over,
    /** Each tick takes a moment. */
    send(connection: number, ticks: readonly number[]): void {
      for (const tick of ticks) {
        timesSent.set(tick, timesSent.get(tick) + 1);
        sendings.set(tick, { connection, at: ++now });
      }
    },
    render(
      connection: number,
      sentence: string,
      ticks: readonly number[],
      language = 'es',
    ): readonly number[] {
      seams.rendered({ stream: `${connection}`, language, ticks });
      doubts.rendered(connection, { sentence, language }, ticks);
      return ticks;
    },
    word(connection: number, sentence: string | null, timed = false, span: Span | null = null): void {
      const word = { kind: 'validated_transcription', language: 'en', sentence, timed, span };
      doubts.word(connection, word, ++now);
    },
    sound(ticks: readonly number[], isNamed = true): void {
      doubts.sound(ticks, isNamed, ++now);
      const playing = { id: ++id, stream: 'a', language: 'es', spoiled: false };
      const lengths = { lengthTicks: ticks.length, playedTicks: 0 };
      const job = { ...playing, ...lengths, ticks };
      said.begin(job);
      said.played(job, ticks.length);
    },
    /** How many pieces of speech were said twice, and how many of them without a fault of the device. */
    twice: () => {
      const found = violations.list.map(({ text }) => Number(/^(\d+) ms/.exec(text)?.[1]) / 20);
      return { wrong: found.reduce((sum, ticks) => sum + ticks, 0), inDoubt: said.doubtfulTicks };
    },
  };
}

describe('what follows a cut of which word came late', () => {
  interface Terms {
    /** So much of it had been sent by then. */
    readonly sent: number;
    readonly timed?: boolean;
    readonly isTruthful?: boolean;
    /** From where on it was sent again. */
    readonly again?: number;
    /** Where it begins. */
    readonly from?: number;
  }
  /** The sentence before the cut ends at 200, and is said again with the first 300 behind the cut. */
  const given = ({ sent, timed = false, isTruthful = true, again = 0, from = 200 }: Terms) => {
    const { send, render, word, sound, twice } = world(isTruthful);
    send(1, [...upTo(0, 200), ...upTo(from, from + sent)]);
    word(1, 'a', timed);
    send(1, upTo(from + sent, 500));
    const before = render(1, 'a', upTo(0, 200));
    const behind = render(1, 'b', upTo(from, 500));
    sound(before.slice(0, 40));
    sound(behind);
    send(2, upTo(again, 500));
    sound(render(2, 'c', upTo(from, 500)));
    return twice();
  };

  it('may be said again with the sentence before it, as far as it had been sent then', () => {
    expect(given({ sent: 300 })).toEqual({ wrong: 0, inDoubt: 284 });
    expect(given({ sent: 180 })).toEqual({ wrong: 120 - 8, inDoubt: 180 - 8 });
  });

  it('may not where the times of that had been told, and are true', () => {
    // Up to a second and a half is a doubt of every cut; half a syllable at either end is none.
    expect(given({ sent: 300, timed: true })).toMatchObject({ inDoubt: 67 });
    expect(given({ sent: 300, timed: true, isTruthful: false })).toMatchObject({ wrong: 0 });
  });

  it('may for a second and a half behind a pause that need not have ended the sentence', () => {
    expect(given({ sent: 256, from: 244 })).toEqual({ wrong: 256 - 75 - 8, inDoubt: 67 });
  });

  it('may not without it, nor behind a pause that has', () => {
    expect(given({ sent: 300, again: 200 })).toMatchObject({ inDoubt: 0 });
    expect(given({ sent: 255, from: 245 })).toMatchObject({ inDoubt: 0 });
  });
});

describe('the last of a sentence that was cut in running speech', () => {
  /** The first sentence ends at 200; the next stream hears what begins so long before that, and makes another one of its first. */
  const given = (before: number, terms: { heard?: number; until?: number; timed?: boolean } = {}) => {
    const { heard = 400, timed = false } = terms;
    const { until = heard } = terms;
    const { send, render, word, sound, twice } = world();
    send(1, upTo(0, 300));
    sound(render(1, 'a', upTo(0, 200)));
    word(1, 'a', timed);
    send(2, upTo(200 - before, heard));
    sound(render(2, 'b', upTo(200 - before, until)));
    return twice();
  };

  it('may be said again with what follows, as far as the cut is not known', () => {
    expect(given(80)).toEqual({ wrong: 0, inDoubt: 72 });
    expect(given(81)).toEqual({ wrong: 73, inDoubt: 0 });
  });

  it('may where the service cuts it off from that once more', () => {
    expect(given(80, { until: 200 })).toEqual({ wrong: 0, inDoubt: 72 });
    expect(given(200, { until: 200 })).toMatchObject({ inDoubt: 0 });
  });

  it('may not by itself, nor where the times are true', () => {
    expect(given(20, { heard: 200 })).toEqual({ wrong: 12, inDoubt: 0 });
    expect(given(20, { timed: true })).toEqual({ wrong: 12, inDoubt: 0 });
  });
});

describe('the end of a repeat that the service has made a sentence of its own', () => {
  interface Terms {
    /** When newer speech was sent: before or behind word of that, or on another stream. */
    readonly newer: 'before' | 'behind' | 'elsewhere';
    readonly timed?: boolean;
    readonly times?: number;
    readonly isCut?: boolean;
  }
  const given = ({ newer, timed = false, times = 2, isCut = true }: Terms) => {
    const { send, render, word, sound, twice } = world();
    if (times > 1) send(1, upTo(0, 300));
    sound(render(1, 'a', upTo(0, 300)));
    send(2, upTo(0, 300));
    if (isCut) render(2, 'b', upTo(0, 270));
    if (newer !== 'behind') send(newer === 'before' ? 2 : 3, upTo(400, 450));
    word(2, 'c', timed);
    if (newer === 'behind') send(2, upTo(400, 450));
    sound(render(2, 'c', upTo(270, 300)));
    return twice();
  };

  it('may be taken for newer speech that had been sent before word of it came', () => {
    expect(given({ newer: 'before' })).toEqual({ wrong: 0, inDoubt: 22 });
  });

  it('may not where there was none, or its times were told', () => {
    for (const terms of [
      { newer: 'behind' },
      { newer: 'elsewhere' },
      { newer: 'before', timed: true },
    ] as const)
      expect(given(terms)).toEqual({ wrong: 22, inDoubt: 0 });
  });

  it('may not where it is all of it, or was no repeat', () => {
    expect(given({ newer: 'before', isCut: false })).toEqual({ wrong: 22, inDoubt: 0 });
    expect(given({ newer: 'before', times: 1 })).toEqual({ wrong: 22, inDoubt: 0 });
  });
});

describe('the last that a stream spoke before it broke off, without a name', () => {
  interface Terms {
    /** This many texts came. */
    readonly texts?: number;
    readonly isNamed?: boolean;
    readonly isOver?: boolean;
    readonly again?: readonly number[];
  }
  const given = ({ texts = 1, isNamed = false, isOver = true, again = upTo(200, 300) }: Terms) => {
    const { send, render, word, sound, over, twice } = world();
    send(1, [...upTo(0, 100), ...upTo(200, 300)]);
    const [first, second] = [render(1, 'a', upTo(0, 100)), render(1, 'b', upTo(200, 300))];
    for (let text = 0; text < texts; text++) word(1, null);
    sound(first, isNamed);
    sound(second, isNamed);
    if (isOver) over.add(1);
    send(2, again);
    sound(render(2, 'c', again), isNamed);
    return twice();
  };

  it('may be said again where its text had not come', () => {
    expect(given({})).toEqual({ wrong: 0, inDoubt: 84 });
    expect(given({ texts: 0 })).toEqual({ wrong: 0, inDoubt: 84 });
  });

  it('may not where its text had come, it has a name, or the stream goes on', () => {
    for (const terms of [{ texts: 2 }, { isNamed: true }, { isOver: false }])
      expect(given(terms)).toEqual({ wrong: 84, inDoubt: 0 });
  });

  it('is one sentence: the one before may not', () => {
    expect(given({ texts: 0, again: upTo(0, 100) })).toEqual({ wrong: 84, inDoubt: 0 });
  });
});

describe('a part of a translation', () => {
  interface Terms {
    /** The other part, which has not sounded: of this sentence, in this language. */
    readonly other?: string;
    readonly language?: string;
    readonly timed?: boolean;
    readonly isOver?: boolean;
  }
  /** The first of two parts has sounded, the stream has broken off, and all is said again. */
  const twice = ({ other = 'a', language = 'es', timed = false, isOver = true }: Terms) => {
    const to = world();
    to.send(1, upTo(1, 601));
    const part = to.render(1, 'a', upTo(1, 301));
    to.render(1, other, upTo(301, 601), language);
    to.word(1, 'a', timed);
    to.sound(part);
    if (isOver) to.over.add(1);
    to.send(2, upTo(1, 601));
    to.sound(to.render(2, 'b', upTo(1, 601)));
    return to.twice();
  };

  it('may be said again with the others, where the stream has broken off before these', () => {
    expect(twice({})).toEqual({ wrong: 0, inDoubt: 284 });
  });

  it('may not where it is all of the sentence in its language, its times are told, or the stream goes on', () => {
    for (const terms of [{ other: 'b' }, { language: 'fr' }, { timed: true }, { isOver: false }])
      expect(twice(terms)).toEqual({ wrong: 284, inDoubt: 0 });
  });
});

describe('a sentence of which other times are told than its own', () => {
  const given = (span: Span | null, isTruthful = false) => {
    const { send, render, word, sound, twice } = world(isTruthful);
    send(1, upTo(0, 400));
    const own = render(1, 'a', upTo(300, 400));
    word(1, 'a', span !== null, span);
    sound(own);
    send(2, upTo(300, 400));
    sound(render(2, 'b', upTo(300, 400)));
    return twice();
  };

  it('may be said again, as far as they do not hold it', () => {
    expect(given({ fromMs: 1000, toMs: 5000 })).toMatchObject({ wrong: 0 });
    // Half a syllable at either end is none.
    expect(given({ fromMs: 6000, toMs: 7000 })).toEqual({ wrong: 50 - 8, inDoubt: 50 - 8 });
    expect(given({ fromMs: 7000, toMs: 8000 })).toEqual({ wrong: 50 - 8, inDoubt: 50 - 8 });
  });

  it('may not where they hold it, are true, or none are told', () => {
    for (const { span, isTruthful } of [
      { span: { fromMs: 6000, toMs: 8000 }, isTruthful: false },
      { span: { fromMs: 1000, toMs: 5000 }, isTruthful: true },
      { span: null, isTruthful: false },
    ])
      expect(given(span, isTruthful)).toMatchObject({ inDoubt: 0 });
  });
});

describe('a text of a translation', () => {
  it('tells which seconds it is of where it has times, and is of that sentence', () => {
    const { doubts, render, word } = world();
    const [one, other] = [render(1, 'a', upTo(0, 50)), render(1, 'b', upTo(50, 90))];
    word(1, 'a');
    const text = { kind: 'translated_transcription', language: 'es', sentence: 'a' } as const;
    doubts.word(1, { ...text, timed: false }, 1000);
    expect(doubts.isPlaced(one)).toBe(false);
    doubts.word(1, { ...text, timed: true }, 1100);
    expect([one, other].map(doubts.isPlaced)).toEqual([true, false]);
  });
});
