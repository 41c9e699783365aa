/** Two people at a desk: when each of them speaks, and when a key is pressed. */
import type { Dice } from '../dice.ts';
import { TICK_MS } from '../sound.ts';

/** `cancelling`: a room whose lanes cancel the echo, and so hear through the loudspeakers' sound. */
export type Form = 'auto' | 'button' | 'hold' | 'rooms' | 'cancelling';
export const isRoom = (form: Form): boolean => form === 'rooms' || form === 'cancelling';

/** Person 0 speaks the source language of the desk, person 1 its target language. */
export type Person = 0 | 1;

/** Something that one person says. */
export interface Utterance {
  readonly person: Person;
  readonly from: number;
  readonly until: number;
  /** The other person speaks at the same time, or it is not meant for the kiosk. */
  readonly isAside: boolean;
  /** Ticks with a voice. */
  readonly voiced: ReadonlySet<number>;
}

export interface Key {
  readonly at: number;
  readonly person: Person;
  readonly held: boolean;
}

export interface People {
  readonly utterances: readonly Utterance[];
  readonly keys: readonly Key[];
  /** Whether the conversation is over. */
  readonly isOver: boolean;
  /** Decides what happens next. @param busy whether a loudspeaker is heard, or a translation is still to come */
  tick(now: number, busy: boolean): void;
}

const TURNS = 10;
/** How long people wait for a translation (ms). */
const PATIENCE_MS = 9000;

/** Words and the breaths between them, in ticks. */
function speak(dice: Dice, from: number, lengthMs: number): Set<number> {
  const voiced = new Set<number>();
  let at = Math.ceil(from / TICK_MS);
  const end = Math.floor((from + lengthMs) / TICK_MS);
  while (at < end) {
    for (let word = dice.whole(10, 30); word > 0 && at < end; word--) voiced.add(at++);
    at += dice.chance(0.2) ? dice.whole(6, 14) : dice.whole(1, 5);
  }
  return voiced;
}

export function createPeople(dice: Dice, form: Form, startAt: number): People {
  const utterances: Utterance[] = [];
  const keys: Key[] = [];
  let turn = 0;
  let person: Person = 0;
  let nextAt = startAt + dice.between(500, 2000);
  let last: Utterance | null = null;
  let isOver = false;

  const say = (who: Person, from: number, lengthMs: number, isAside: boolean): Utterance => {
    const voiced = speak(dice, from, lengthMs);
    const until = (Math.max(...voiced) + 1) * TICK_MS;
    const utterance = { person: who, from: Math.min(...voiced) * TICK_MS, until, isAside, voiced };
    utterances.push(utterance);
    return utterance;
  };
  const press = (who: Person, from: number, until: number): void => {
    if (form !== 'button' && form !== 'hold') return;
    keys.push({ at: from - dice.between(60, 250), person: who, held: true });
    if (form === 'hold') keys.push({ at: until + dice.between(0, 40), person: who, held: false });
  };
  const begin = (now: number): void => {
    const changes = last !== null && dice.chance(0.75);
    if (changes) person = person === 0 ? 1 : 0;
    const other: Person = person === 0 ? 1 : 0;
    const from = now + 300;
    const lengthMs = dice.between(1400, 5000);
    const atOnce = dice.chance(0.12);
    const said = say(person, from, lengthMs, atOnce && !isRoom(form));
    if (form === 'hold' || last === null || changes || dice.chance(0.2)) press(person, said.from, said.until);
    if (atOnce) say(other, from + dice.between(0.2, 0.7) * lengthMs, dice.between(800, 2000), true);
    // Somebody speaks to a third person, without the key.
    if (form === 'hold' && dice.chance(0.1)) say(other, said.until + 700, 1200, true);
    last = said;
    turn += 1;
    // An answer may come at once. With one microphone and no key, no service tells the two apart then.
    const answersAtOnce = form !== 'auto' && !atOnce && turn < TURNS && dice.chance(0.25);
    if (!answersAtOnce) return;
    person = other;
    const gapMs = isRoom(form) ? dice.between(60, 400) : dice.between(300, 600);
    last = say(other, said.until + gapMs, dice.between(1200, 2500), false);
    press(other, last.from, last.until);
    turn += 1;
  };
  return {
    utterances,
    keys,
    get isOver() {
      return isOver;
    },
    tick(now, busy) {
      if (isOver || now < nextAt) return;
      const ends = Math.max(0, ...utterances.slice(-3).map(({ until }) => until));
      if (now < ends + 600 || (busy && now < ends + PATIENCE_MS)) {
        nextAt = Math.max(now + 200, ends + 600);
        return;
      }
      if (turn >= TURNS) {
        isOver = now > ends + PATIENCE_MS;
        nextAt = now + 500;
        return;
      }
      begin(now);
      nextAt = now + 400 + dice.between(200, 1500);
    },
  };
}
