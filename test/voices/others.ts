import type { Dice } from '../sim/dice.ts';
import type { Library } from './material.ts';
import { pink, walk } from './noises.ts';
import { RATE_HZ, SPEAKER_NAMES, type Speaker } from './recordings.ts';
import { atLevel, levelDb, mixIn, reverberate, speechLevelDb } from './room.ts';
import { whispered } from './whisper.ts';

/** Sounds that the detector was not tuned on, to find noises that wake a lane and voices that do not. */

type Make = (dice: Dice, library: Library) => Float32Array;

const seconds = (length: number): number => Math.round(length * RATE_HZ);

/** Makes sound sample by sample. @param valueAt returns the sample at a time (s) and index */
function made(lengthS: number, valueAt: (atS: number) => number): Float32Array {
  return Float32Array.from({ length: seconds(lengthS) }, (_, index) => valueAt(index / RATE_HZ));
}

/** A tone with varying pitch. @param hzAt pitch at each time @param strengths strengths of its harmonics, from the first */
function gliding(
  lengthS: number,
  hzAt: (atS: number) => number,
  strengths: (hz: number) => readonly number[],
): Float32Array {
  let angle = 0;
  return made(lengthS, (at) => {
    const hz = hzAt(at);
    angle += (2 * Math.PI * hz) / RATE_HZ;
    return strengths(hz).reduce((sum, strength, order) => sum + strength * Math.sin(angle * (order + 1)), 0);
  });
}

/** Gain of a formant at this frequency. */
const formant = (hz: number, middleHz: number, widthHz: number): number =>
  1 / (1 + ((hz - middleHz) / widthHz) ** 2);

function faded(sound: Float32Array, riseS: number, fallS: number): Float32Array {
  const length = sound.length / RATE_HZ;
  return sound.map((value, index) => {
    const at = index / RATE_HZ;
    return value * Math.min(1, at / riseS, (length - at) / fallS);
  });
}

/** A vacuum cleaner: a motor that starts and moves to and fro, with air noise. */
const vacuum: Make = (dice) => {
  const lengthS = dice.between(6, 15);
  const endHz = dice.between(180, 420);
  const pushHz = dice.between(0.3, 0.8);
  const motor = gliding(
    lengthS,
    (at) => endHz * (1 - 0.7 * Math.exp(-at / 0.4)) * (1 + 0.03 * Math.sin(2 * Math.PI * pushHz * at)),
    () => [1, 0.6, 0.5, 0.2, 0.3, 0.1],
  );
  const sound = atLevel(pink(seconds(lengthS), dice), -20);
  mixIn(sound, atLevel(motor, -24), 0);
  const swaying = sound.map(
    (value, index) => value * (1 + 0.3 * Math.sin((2 * Math.PI * pushHz * index) / RATE_HZ)),
  );
  return faded(swaying, 0.4, 1);
};

/** A whistle that rises, then stays and flutters. */
const kettle: Make = (dice) => {
  const endHz = dice.between(1400, 2600);
  const climbS = dice.between(2, 5);
  const whistle = gliding(
    climbS + 4,
    (at) => endHz * (1 - 0.6 * Math.exp((-3 * at) / climbS)) * (1 + 0.004 * Math.sin(2 * Math.PI * 9 * at)),
    () => [1, 0.2, 0.05],
  );
  mixIn(whistle, atLevel(pink(whistle.length, dice), levelDb(whistle) - 12), 0);
  return faded(whistle, climbS, 0.5);
};

/** Trembling cries of about a second with rising and falling pitch, and breaths in between. */
const baby: Make = (dice) => {
  const sound = new Float32Array(seconds(8));
  const homeHz = dice.between(350, 520);
  for (let at = 0; at < 7; ) {
    const cryS = dice.between(0.6, 1.3);
    const cry = gliding(
      cryS,
      (time) =>
        homeHz *
        (1 + 0.25 * Math.sin((Math.PI * time) / cryS)) *
        (1 + 0.02 * Math.sin(2 * Math.PI * 7 * time)),
      (hz) =>
        Array.from(
          { length: 8 },
          (_, order) =>
            (0.1 + formant(hz * (order + 1), 1100, 300) + formant(hz * (order + 1), 3000, 500)) / (order + 1),
        ),
    );
    mixIn(sound, faded(cry, 0.08, 0.15), seconds(at));
    at += cryS + dice.between(0.25, 0.6);
  }
  return sound;
};

const farSteps: Make = (dice) =>
  reverberate(walk(dice), 1.5, { directToTail: 0.5, seed: dice.whole(1, 1e6) });

/** Two to four coughs: a burst of air, then a little voice. */
const cough: Make = (dice) => {
  const sound = new Float32Array(seconds(2.5));
  const voiceHz = dice.between(110, 240);
  for (let time = 0, at = 0; time < dice.whole(2, 4); time++) {
    const burst = faded(pink(seconds(0.25), dice), 0.005, 0.2);
    const voice = gliding(
      0.18,
      (since) => voiceHz * (1.2 - since),
      (hz) => Array.from({ length: 14 }, (_, order) => 0.1 + formant(hz * (order + 1), 900, 400)),
    );
    mixIn(sound, atLevel(burst, -20), seconds(at));
    mixIn(sound, atLevel(faded(voice, 0.01, 0.12), -28), seconds(at + 0.04));
    at += dice.between(0.35, 0.6);
  }
  return sound;
};

/** Dial tones of a phone on a loudspeaker. */
const dialling: Make = (dice) => {
  const sound = new Float32Array(seconds(4));
  for (let at = 0; at < 3.8; at += 0.2) {
    const [row, column] = [dice.pick([697, 770, 852, 941]), dice.pick([1209, 1336, 1477])];
    const digit = made(
      0.12,
      (since) => Math.sin(2 * Math.PI * row * since) + Math.sin(2 * Math.PI * column * since),
    );
    mixIn(sound, faded(digit, 0.004, 0.004), seconds(at));
  }
  return reverberate(sound, 0.5, { seed: dice.whole(1, 1e6) });
};

/** Three or four notes from a ceiling loudspeaker in a hall. */
const chime: Make = (dice) => {
  const notes = dice.pick([
    [659, 523, 392],
    [523, 659, 784],
    [784, 659, 523, 392],
  ]);
  const sound = new Float32Array(seconds(notes.length * 0.6 + 2));
  for (const [turn, hz] of notes.entries()) {
    const note = made(
      2,
      (at) =>
        Math.exp(-at / 0.6) *
        (Math.sin(2 * Math.PI * hz * at) +
          0.4 * Math.sin(4 * Math.PI * hz * at) +
          0.2 * Math.sin(6.02 * Math.PI * hz * at)),
    );
    mixIn(sound, note, seconds(turn * 0.6));
  }
  return reverberate(sound, 1.2, { seed: dice.whole(1, 1e6) });
};

const dog: Make = (dice) => {
  const sound = new Float32Array(seconds(4));
  const startHz = dice.between(350, 800);
  for (let at = 0; at < 3.5; at += dice.between(0.35, 0.9)) {
    const bark = gliding(
      dice.between(0.12, 0.25),
      (since) => startHz * (1.1 - 1.5 * since),
      (hz) =>
        Array.from({ length: 8 }, (_, order) => (0.2 + formant(hz * (order + 1), 1200, 500)) / (order + 1)),
    );
    mixIn(sound, faded(bark, 0.01, 0.08), seconds(at));
  }
  return reverberate(sound, 0.5, { seed: dice.whole(1, 1e6) });
};

/** Applause of sixty hands. */
const applause: Make = (dice) => {
  const sound = new Float32Array(seconds(6));
  const clap = faded(pink(seconds(0.02), dice), 0.001, 0.018);
  for (let count = 0; count < 1200; count++) {
    mixIn(sound, clap, Math.floor(dice.next() * sound.length), dice.between(0.2, 1));
  }
  return faded(reverberate(sound, 0.8, { seed: dice.whole(1, 1e6) }), 0.5, 1.5);
};

const anySpeaker = (dice: Dice): Speaker => dice.pick(SPEAKER_NAMES as readonly [Speaker, ...Speaker[]]);

/** A television in the next room. */
const television: Make = (dice, library) =>
  reverberate(library.talk(dice, seconds(20)), 0.5, { directToTail: 0.5, seed: dice.whole(1, 1e6) });

const whisper: Make = (dice, library) => whispered(library.utterance(dice, anySpeaker(dice)).sound, dice, 0);
const hoarse: Make = (dice, library) => whispered(library.utterance(dice, anySpeaker(dice)).sound, dice, 0.3);

export interface Other {
  readonly make: Make;
  /** Level of the speech, or of the whole sound. */
  readonly levelDb: number;
  /** Whether it is a visitor who speaks to the kiosk and must be heard. */
  readonly isVisitor: boolean;
}

const noise = (make: Make, level: number): Other => ({ make, levelDb: level, isVisitor: false });
const visitor = (make: Make, level: number): Other => ({ make, levelDb: level, isVisitor: true });

export const OTHERS = {
  'vacuum cleaner': noise(vacuum, -25),
  kettle: noise(kettle, -28),
  'steps in a hall': noise(farSteps, -36),
  dialling: noise(dialling, -24),
  'chime of a hall': noise(chime, -24),
  applause: noise(applause, -26),
  cough: noise(cough, -22),
  'crying baby': noise(baby, -24),
  'barking dog': noise(dog, -24),
  television: noise(television, -45),
  'whisper, near': visitor(whisper, -30),
  'whisper, soft': visitor(whisper, -42),
  'hoarse, near': visitor(hoarse, -30),
  'hoarse, soft': visitor(hoarse, -42),
} as const satisfies Record<string, Other>;
export type OtherName = keyof typeof OTHERS;

const LEAD_S = 8;
const AFTER_S = 3;
const ROOM_DB = -58;

/** Makes the sound once in a quiet room. */
export function makeOther(name: OtherName, dice: Dice, library: Library): Float32Array {
  const { make, levelDb: level } = OTHERS[name];
  const event = make(dice, library);
  atLevel(event, level, speechLevelDb(event));
  const sound = atLevel(pink(seconds(LEAD_S + AFTER_S) + event.length, dice), ROOM_DB);
  mixIn(sound, event, seconds(LEAD_S));
  return sound;
}
