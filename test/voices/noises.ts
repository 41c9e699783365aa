import { createDice, type Dice } from '../sim/dice.ts';
import { RATE_HZ } from './recordings.ts';
import { atLevel, levelDb, mixIn, reverberate } from './room.ts';

/** Sounds of a room without a visitor. Each is made from its own dice. */

export const KINDS = [
  'fan',
  'hum',
  'brown',
  'pink',
  'slams',
  'steps',
  'keys',
  'phones',
  'music',
  'babble',
] as const;
export type Kind = (typeof KINDS)[number];

/** Level of continuous noise, and of the loudest moment of single events (dBFS). */
export const LEVELS_DB: Readonly<Record<Kind, number>> = {
  fan: -34,
  hum: -34,
  brown: -32,
  pink: -36,
  slams: -14,
  steps: -26,
  keys: -26,
  phones: -24,
  music: -38,
  babble: -45,
};

/** Level of the room with doors, steps, keys and phones (dBFS). */
const QUIET_ROOM_DB = -58;
/** Number of events in an hour. */
const EVENTS_AN_HOUR = 120;

/** Recorded sound of any length. */
export interface Material {
  /** Continuous talk. */
  talk(dice: Dice, samples: number): Float32Array;
  music(dice: Dice, samples: number): Float32Array;
}

/** Makes noise of one kind at its usual level. */
export function makeNoise(kind: Kind, samples: number, dice: Dice, material: Material): Float32Array {
  switch (kind) {
    case 'fan':
      return atLevel(fan(samples, dice), LEVELS_DB.fan);
    case 'hum':
      return atLevel(hum(samples, dice), LEVELS_DB.hum);
    case 'brown':
      return atLevel(brown(samples, dice), LEVELS_DB.brown);
    case 'pink':
      return atLevel(pink(samples, dice), LEVELS_DB.pink);
    case 'music':
      return atLevel(material.music(dice, samples), LEVELS_DB.music);
    case 'babble':
      return atLevel(babble(samples, dice, material), LEVELS_DB.babble);
    case 'slams':
      return happen(samples, dice, LEVELS_DB.slams, slam);
    case 'steps':
      return happen(samples, dice, LEVELS_DB.steps, walk);
    case 'keys':
      return happen(samples, dice, LEVELS_DB.keys, jingle);
    case 'phones':
      return happen(samples, dice, LEVELS_DB.phones, ring);
  }
}

function white(samples: number, dice: Dice): Float32Array {
  return Float32Array.from({ length: samples }, () => dice.next() * 2 - 1);
}

/** A band-pass with one pole on each side. */
function band(sound: Float32Array, lowHz: number, highHz: number): Float32Array {
  const rise = 1 - Math.exp((-2 * Math.PI * highHz) / RATE_HZ);
  const fall = 1 - Math.exp((-2 * Math.PI * lowHz) / RATE_HZ);
  let smooth = 0;
  let slow = 0;
  return sound.map((value) => {
    smooth += rise * (value - smooth);
    slow += fall * (smooth - slow);
    return smooth - slow;
  });
}

export function brown(samples: number, dice: Dice): Float32Array {
  let sum = 0;
  return white(samples, dice).map((value) => {
    sum = sum * 0.998 + value;
    return sum;
  });
}

/** Paul Kellet's filter. */
export function pink(samples: number, dice: Dice): Float32Array {
  let [a, b, c] = [0, 0, 0];
  return white(samples, dice).map((value) => {
    a = 0.99765 * a + value * 0.099046;
    b = 0.963 * b + value * 0.2965164;
    c = 0.57 * c + value * 1.0526913;
    return a + b + c + value * 0.1848;
  });
}

/** A fan: air noise, and a slightly varying tone with harmonics. */
export function fan(samples: number, dice: Dice): Float32Array {
  const sound = atLevel(band(pink(samples, dice), 60, dice.between(600, 3000)), -20);
  const bladesHz = dice.between(70, 240);
  const swayHz = dice.between(0.1, 1.5);
  const depth = dice.between(0.02, 0.25);
  const strength = dice.between(0.01, 0.06);
  let angle = 0;
  for (let index = 0; index < samples; index++) {
    const sway = Math.sin((2 * Math.PI * swayHz * index) / RATE_HZ);
    angle += (2 * Math.PI * bladesHz * (1 + 0.003 * sway)) / RATE_HZ;
    const tone = Math.sin(angle) + 0.5 * Math.sin(2 * angle) + 0.25 * Math.sin(3 * angle);
    sound[index] = (sound[index] ?? 0) * (1 + depth * sway) + strength * tone;
  }
  return sound;
}

/** Mains hum with the harmonics of a transformer or a bad cable. */
export function hum(samples: number, dice: Dice): Float32Array {
  const sound = atLevel(pink(samples, dice), dice.between(-40, -30));
  const baseHz = dice.pick([50, 60, 100, 120]);
  const harmonics = Array.from({ length: 12 }, (_, index) => dice.next() / (index + 1));
  for (let index = 0; index < samples; index++) {
    const angle = (2 * Math.PI * baseHz * index) / RATE_HZ;
    let value = 0;
    for (const [order, strength] of harmonics.entries()) value += strength * Math.sin(angle * (order + 1));
    sound[index] = (sound[index] ?? 0) + 0.2 * value;
  }
  return sound;
}

/** Six or more people who talk at a distance, with different levels and reverberation. */
function babble(samples: number, dice: Dice, material: Material): Float32Array {
  const sound = new Float32Array(samples);
  const people = dice.whole(6, 10);
  for (let one = 0; one < people; one++) {
    const talk = material.talk(dice, samples);
    mixIn(sound, atLevel(talk, dice.between(-26, -20)), 0);
  }
  return reverberate(sound, 0.8, { directToTail: 0.25, seed: dice.whole(1, 1e6) }).subarray(0, samples);
}

/** Single events in a quiet room, with different levels. */
export function happen(
  samples: number,
  dice: Dice,
  loudestDb: number,
  make: (dice: Dice) => Float32Array,
): Float32Array {
  const sound = atLevel(pink(samples, dice), QUIET_ROOM_DB);
  const spacing = (3600 / EVENTS_AN_HOUR) * RATE_HZ;
  for (let slot = 0; slot < samples; slot += spacing) {
    const event = reverberate(make(dice), dice.between(0.3, 0.8), {
      directToTail: dice.pick([0.5, 1, 2, 4]),
      seed: dice.whole(1, 1e6),
    });
    const at = slot + Math.floor(dice.next() * Math.max(1, spacing - event.length));
    mixIn(sound, atLevel(event, loudestDb - dice.between(0, 12), loudestMomentDb(event)), at);
  }
  return sound;
}

const MOMENT = Math.round(0.05 * RATE_HZ);

/** Level of the loudest 50 ms. */
function loudestMomentDb(sound: Float32Array): number {
  let loudest = -120;
  for (let from = 0; from + MOMENT <= sound.length; from += MOMENT) {
    loudest = Math.max(loudest, levelDb(sound.subarray(from, from + MOMENT)));
  }
  return loudest;
}

const seconds = (length: number): number => Math.round(length * RATE_HZ);

/** A stroke: decaying tones and a crack. */
function strike(
  dice: Dice,
  given: { lowHz: number; highHz: number; modes: number; longS: number },
): Float32Array {
  const sound = new Float32Array(seconds(given.longS * 4));
  for (let mode = 0; mode < given.modes; mode++) {
    const hz = given.lowHz * (given.highHz / given.lowHz) ** dice.next();
    const decay = 1 / (given.longS * dice.between(0.3, 1) * RATE_HZ);
    const strength = dice.next();
    for (let index = 0; index < sound.length; index++) {
      const value = Math.sin((2 * Math.PI * hz * index) / RATE_HZ) * Math.exp(-decay * index);
      sound[index] = (sound[index] ?? 0) + strength * value;
    }
  }
  const crack = band(white(seconds(0.03), dice), given.lowHz, given.highHz * 2);
  mixIn(sound, crack, 0, given.modes);
  return sound;
}

export function slam(dice: Dice): Float32Array {
  const sound = new Float32Array(seconds(2));
  mixIn(
    sound,
    strike(dice, { lowHz: 45, highHz: dice.between(200, 900), modes: 10, longS: dice.between(0.08, 0.35) }),
    0,
  );
  // The latch or a second knock.
  const again = seconds(dice.between(0.04, 0.3));
  mixIn(
    sound,
    strike(dice, { lowHz: 300, highHz: 2500, modes: 6, longS: 0.04 }),
    again,
    dice.between(0.1, 0.6),
  );
  return sound;
}

/** Steps of a person who walks by. */
export function walk(dice: Dice): Float32Array {
  const steps = dice.whole(5, 12);
  const pace = dice.between(0.45, 0.65);
  const isHard = dice.chance(0.5);
  const sound = new Float32Array(seconds(steps * pace + 1));
  for (let step = 0; step < steps; step++) {
    const at = seconds(step * pace + dice.between(0, 0.04));
    const near = Math.exp(-(((step - steps / 2) / (steps / 3)) ** 2));
    const heel = isHard
      ? { lowHz: 200, highHz: 2500, modes: 6, longS: 0.025 }
      : { lowHz: 60, highHz: 500, modes: 6, longS: 0.05 };
    mixIn(sound, strike(dice, heel), at, near * dice.between(0.6, 1));
    mixIn(sound, strike(dice, { ...heel, longS: 0.015 }), at + seconds(0.09), near * 0.4);
  }
  return sound;
}

/** A bunch of keys or a drawer of spoons. */
function jingle(dice: Dice): Float32Array {
  const sound = new Float32Array(seconds(dice.between(0.6, 2.5)));
  for (let at = 0; at < sound.length - seconds(0.2); at += seconds(dice.wait(0.06))) {
    const key = strike(dice, { lowHz: 2200, highHz: 9000, modes: 5, longS: dice.between(0.02, 0.06) });
    mixIn(sound, key, at, dice.between(0.2, 1));
  }
  return sound;
}

/** A phone: a bell, a warble, beeps, dialling or a melody. */
export function ring(dice: Dice): Float32Array {
  return dice.pick(RINGS)(dice);
}

function tone(sound: Float32Array, at: number, lengthS: number, hz: readonly number[], decayS = 0): void {
  const length = Math.min(seconds(lengthS), sound.length - at);
  const ramp = seconds(0.004);
  for (let index = 0; index < length; index++) {
    const edge = Math.min(1, index / ramp, (length - index) / ramp);
    const fade = decayS === 0 ? 1 : Math.exp(-index / (decayS * RATE_HZ));
    let value = 0;
    for (const one of hz) value += Math.sin((2 * Math.PI * one * index) / RATE_HZ);
    sound[at + index] = (sound[at + index] ?? 0) + value * edge * fade;
  }
}

function bell(dice: Dice): Float32Array {
  const sound = new Float32Array(seconds(dice.pick([1, 2, 6])));
  const hz = dice.between(900, 1600);
  for (let at = 0, turn = 0; at < sound.length; at += seconds(0.05), turn++) {
    // A ring is one second of the bell and two seconds of pause.
    if (Math.floor(at / RATE_HZ) % 3 !== 0) continue;
    const one = turn % 2 === 0 ? hz : hz * 1.19;
    tone(sound, at, 0.3, [one, one * 2.76, one * 5.4], 0.12);
  }
  return sound;
}

function warble(dice: Dice): Float32Array {
  const sound = new Float32Array(seconds(dice.pick([1, 2, 4])));
  const [low, high] = dice.pick([
    [440, 480],
    [400, 450],
    [800, 1000],
    [1336, 1477],
  ]) as [number, number];
  const isTogether = dice.chance(0.5);
  for (let at = 0, turn = 0; at < sound.length; at += seconds(0.04), turn++) {
    if (Math.floor(at / RATE_HZ) % 3 === 2) continue;
    tone(sound, at, 0.04, isTogether ? [low, high] : [turn % 2 === 0 ? low : high]);
  }
  return sound;
}

function beeps(dice: Dice): Float32Array {
  const sound = new Float32Array(seconds(dice.between(0.5, 3)));
  const hz = dice.between(300, 3200);
  const length = dice.between(0.08, 0.4);
  for (let at = 0; at < sound.length; at += seconds(length * 2)) tone(sound, at, length, [hz]);
  return sound;
}

function dialling(dice: Dice): Float32Array {
  const digits = dice.whole(4, 12);
  const sound = new Float32Array(seconds(digits * 0.25));
  for (let digit = 0; digit < digits; digit++) {
    const row = dice.pick([697, 770, 852, 941]);
    tone(sound, seconds(digit * 0.25), 0.15, [row, dice.pick([1209, 1336, 1477])]);
  }
  return sound;
}

function melody(dice: Dice): Float32Array {
  const notes = dice.whole(6, 20);
  const beat = dice.between(0.11, 0.3);
  const sound = new Float32Array(seconds((notes + 2) * beat));
  const home = dice.between(330, 800);
  for (let note = 0; note < notes; note++) {
    const hz = home * 2 ** (dice.pick([0, 2, 4, 5, 7, 9, 11, 12]) / 12);
    tone(sound, seconds(note * beat), beat * 1.8, [hz, hz * 4, hz * 0.5], beat * dice.between(0.4, 2));
  }
  return sound;
}

/** Dice for one stretch, so that the same seed makes the same hour. */
export function diceFor(seed: number, kind: Kind, stretch: number): Dice {
  return createDice(seed * 1_000_003 + KINDS.indexOf(kind) * 10_007 + stretch);
}

const RINGS = [bell, warble, beeps, dialling, melody] as const;
