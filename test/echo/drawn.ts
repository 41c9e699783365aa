import { createDice, type Dice } from '../sim/dice.ts';
import type { Box } from './box.ts';
import type { Cell } from './cell.ts';

/** Smallest room (m); rooms range from an office to a hall. */
const LEAST_M = 2.6;
const MOST_M = [9, 7, 4] as const;
const FROM_WALL_M = 0.3;
/** Distance of loudspeaker and microphone (m). */
const APART_M = { least: 0.3, most: 1.5 };

/** A random kiosk: its room, its devices and their clocks, from a seed. */
export function drawCell(seed: number): Cell {
  const dice = createDice(seed * 7919 + 13);
  const delayMs = dice.between(20, 300);
  const gainDb = dice.between(-20, 0);
  const ppm = dice.between(-300, 300);
  const extras = {
    ...(dice.chance(0.5) && { distortion: dice.between(0.005, 0.03) }),
    ...(dice.chance(0.5) && { lopsided: dice.between(0.005, 0.03) }),
    ...(dice.chance(0.5) && { lateMs: dice.between(5, 40) }),
  };
  const told = [
    `${Math.round(delayMs)} ms`,
    `${Math.round(gainDb)} dB`,
    `${Math.round(ppm)} ppm`,
    ...(extras.distortion === undefined ? [] : ['bent']),
    ...(extras.lopsided === undefined ? [] : ['lopsided']),
    ...(extras.lateMs === undefined ? [] : [`${Math.round(extras.lateMs)} ms late`]),
  ];
  return {
    name: `drawn ${seed}: ${told.join(', ')}`,
    delayMs,
    gainDb,
    ppm,
    rt60S: 0.4,
    seconds: 48,
    box: drawBox(dice),
    ...extras,
  };
}

function drawBox(dice: Dice): Box {
  const size = [
    dice.between(LEAST_M, MOST_M[0]),
    dice.between(LEAST_M, MOST_M[1]),
    dice.between(LEAST_M, MOST_M[2]),
  ] as const;
  const place = (): [number, number, number] => [
    dice.between(FROM_WALL_M, size[0] - FROM_WALL_M),
    dice.between(FROM_WALL_M, size[1] - FROM_WALL_M),
    dice.between(FROM_WALL_M, size[2] - FROM_WALL_M),
  ];
  const absorbs = dice.between(0.25, 0.6);
  const loudspeaker = place();
  while (true) {
    const microphone = place();
    const apart = Math.hypot(...microphone.map((at, axis) => at - (loudspeaker[axis] ?? 0)));
    if (apart >= APART_M.least && apart <= APART_M.most) return { size, loudspeaker, microphone, absorbs };
  }
}
