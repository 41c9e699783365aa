import { describe, expect, it } from 'vitest';
import { createSaidAccount, type Playing } from './said.ts';
import { createSeams } from './seams.ts';
import { createTickList } from './tick-list.ts';
import { createViolations } from './violations.ts';

const upTo = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, index) => from + index);

function account(isDoubtful?: (tick: number, earlier: readonly number[]) => boolean) {
  const violations = createViolations(() => 0);
  const said = createSaidAccount(violations, isDoubtful);
  let id = 0;
  return {
    said,
    /** @param share of it that is played */
    play(ticks: readonly number[], share = 1, spoiled = false): void {
      const playing: Playing = {
        ...{ id: ++id, stream: 'a', language: 'es', ticks, spoiled },
        ...{ lengthTicks: ticks.length, playedTicks: 0 },
      };
      said.begin(playing);
      said.played(playing, Math.round(ticks.length * share));
    },
    twice: () => violations.list.filter(({ rule }) => rule === 'twice').length,
  };
}

describe('what is said twice', () => {
  it('is found, and what was cut off early is none', () => {
    const whole = account();
    whole.play(upTo(0, 100));
    whole.play(upTo(0, 100));
    expect(whole.twice()).toBe(1);
    const cut = account();
    cut.play(upTo(0, 100), 0.5);
    cut.play(upTo(0, 100));
    expect(cut.twice()).toBe(0);
    // Half of it, each piece twice.
    const spoiled = account();
    spoiled.play(upTo(0, 100), 1, true);
    spoiled.play(upTo(0, 100));
    expect([spoiled.twice(), spoiled.said.doubtfulTicks]).toEqual([0, 84]);
  });

  it('is found behind a try of which nothing much came', () => {
    const { play, twice } = account();
    play(upTo(0, 100));
    play(upTo(92, 200), 0.1);
    expect(twice()).toBe(0);
    play(upTo(50, 200));
    expect(twice()).toBe(1);
  });

  it('is half a syllable at either side of a cut, and no more', () => {
    for (const [overlap, violations] of [
      [8, 0],
      [9, 1],
    ] as const) {
      const { play, twice } = account();
      play(upTo(0, 100));
      play(upTo(100 - overlap, 200));
      expect(twice()).toBe(violations);
    }
  });
});

describe('what follows a cut in running speech', () => {
  /** @param before how often each piece had been sent when it was rendered; @param since and since then */
  const given = (since: (tick: number) => number, before: (tick: number) => number = () => 1) => {
    const sent = createTickList(0);
    for (const tick of upTo(0, 300)) sent.set(tick, before(tick));
    const seams = createSeams(sent, () => true);
    seams.rendered({ stream: 'a', language: 'es', ticks: upTo(0, 100) });
    seams.rendered({ stream: 'a', language: 'es', ticks: upTo(100, 300) });
    for (const tick of upTo(0, 300)) sent.set(tick, sent.get(tick) + since(tick));
    const { play, twice } = account(seams.isSaidWithTheOther);
    play(upTo(100, 300));
    return { play, twice };
  };

  it('may be said again with the sentence before the cut, up to a second and a half of it', () => {
    const { play, twice } = given((tick) => (tick < 140 ? 1 : 0));
    play(upTo(0, 140));
    expect(twice()).toBe(0);
    play(upTo(0, 300));
    expect(twice()).toBe(1);
  });

  it('is not to be said again without it', () => {
    const { play, twice } = given((tick) => (tick >= 100 ? 1 : 0));
    play(upTo(100, 160));
    expect(twice()).toBe(1);
  });

  it('is not to be said again because all of it had been sent twice before it was said', () => {
    const twice = given(
      () => 0,
      () => 2,
    );
    twice.play(upTo(0, 140));
    expect(twice.twice()).toBe(1);
  });
});

describe('what follows a sentence in running speech, by a service that tells no times', () => {
  const given = (isSpoken: (tick: number) => boolean, isOver = true) => {
    const seams = createSeams(createTickList(0), isSpoken);
    seams.rendered({ stream: 'a', language: 'es', ticks: upTo(0, 100) });
    // Said again by another stream, in other sentences.
    seams.rendered({ stream: 'b', language: 'es', ticks: upTo(0, 250) });
    return upTo(0, 300).filter((tick) => seams.isBehindLateText(tick, (stream) => isOver && stream === 'a'));
  };

  it('may be taken for its end, up to a second and a half of it, where its stream breaks off', () => {
    expect(given(() => true)).toEqual(upTo(100, 175));
  });

  it('may not behind a pause, nor while the stream goes on', () => {
    expect(given((tick) => tick < 100 || tick > 116)).toEqual([]);
    expect(given(() => true, false)).toEqual([]);
  });
});

describe('the end of a sentence that was cut in running speech, by a service that tells no times', () => {
  /** @param before how often each piece had been sent when it was rendered; @param since and since then */
  const given = (
    since: (tick: number) => number,
    isGivenUp?: (tick: number) => boolean,
    before: (tick: number) => number = () => 1,
  ) => {
    const sent = createTickList(0);
    for (const tick of upTo(0, 300)) sent.set(tick, before(tick));
    const seams = createSeams(sent, () => true, isGivenUp);
    seams.rendered({ stream: 'a', language: 'es', ticks: upTo(0, 100) });
    seams.rendered({ stream: 'a', language: 'es', ticks: upTo(100, 300) });
    for (const tick of upTo(0, 300)) sent.set(tick, sent.get(tick) + since(tick));
    return upTo(0, 300).filter(seams.isInDoubt);
  };
  const never = (): number => 0;

  it('may be left to the next sentence where its own is sent again, up to a second and a half of it', () => {
    expect(given((tick) => (tick < 40 ? 1 : 0))).toEqual(upTo(40, 100));
    expect(given((tick) => (tick < 10 ? 1 : 0))).toEqual(upTo(25, 85));
    expect(given(never)).toEqual([]);
  });

  it('may be likewise where its own was to be sent again and was lost, because too much waited', () => {
    const isGivenUp = (tick: number): boolean => tick < 40;
    expect(given(never, isGivenUp)).toEqual(upTo(25, 100));
    expect(given(never, isGivenUp, (tick) => (tick < 40 ? 0 : 1))).toEqual([]);
  });

  it('may not where its own had been sent more often before, and was not since', () => {
    expect(given(never, undefined, (tick) => (tick < 40 ? 2 : 1))).toEqual([]);
  });
});

describe('the end of a sentence that was cut in running speech, by a service that told the cut too early', () => {
  /** @param sent how often each piece was sent, by then and since */
  const given = (sent: readonly ((tick: number) => number)[], spokenUntil = 300, pauseAt = -1) => {
    const timesSent = createTickList(0);
    const send = (times: ((tick: number) => number) | undefined): void => {
      for (const tick of upTo(0, 300)) timesSent.set(tick, timesSent.get(tick) + (times?.(tick) ?? 0));
    };
    send(sent[0]);
    const seams = createSeams(timesSent, (tick) => tick < spokenUntil && tick !== pauseAt);
    const { play, twice } = account(seams.isBehindToldEnd);
    const sentence = upTo(0, 100);
    seams.rendered({ stream: 'a', language: 'es', ticks: sentence });
    play(sentence);
    send(sent[1]);
    return { play, twice };
  };
  const once = (): number => 1;
  const from = (first: number) => (tick: number) => (tick < first ? 0 : 1);

  it('may be said again with what follows, up to a second and a half of it', () => {
    for (const [first, violations] of [
      [25, 0],
      [24, 1],
    ] as const) {
      const { play, twice } = given([once, from(first)]);
      play(upTo(first, 200));
      expect(twice()).toBe(violations);
    }
  });

  it('may be where the sentence had been sent more often before it was spoken', () => {
    const { play, twice } = given([(tick) => (tick < 90 ? 2 : 1), from(90)]);
    play(upTo(90, 200));
    expect(twice()).toBe(0);
  });

  it('may not where all of it is sent again, nor where nobody spoke on', () => {
    for (const { play, twice } of [given([once, once]), given([once, from(40)], 100)]) {
      play(upTo(40, 200));
      expect(twice()).toBe(1);
    }
  });

  it('may be behind a pause of the sentence itself, where it may have ended', () => {
    for (const [pauseAt, violations] of [
      [39, 0],
      [24, 0],
      [23, 1],
      [41, 1],
    ] as const) {
      const { play, twice } = given([once, from(40)], 100, pauseAt);
      play(upTo(40, 100));
      expect(twice()).toBe(violations);
    }
  });

  it('may not where it was sent again before it was spoken, and not since', () => {
    const { play, twice } = given([(tick) => 1 + from(40)(tick)]);
    play(upTo(40, 200));
    expect(twice()).toBe(1);
  });
});
