import { beforeAll, describe, expect, it } from 'vitest';
import { interpreter, noise, through, together, VOICE_RATE_HZ, visitors } from '../../acoustics.ts';
import { detect, expectMeasured } from './detected-echo.ts';

const ROOM_DB = -62;
const PART_S = 20.5;

let people: Float32Array;
let said: Float32Array;
let room: Float32Array;
beforeAll(async () => {
  people = await visitors();
  said = interpreter(people, { shift: 0.8, beginS: 6 });
  room = noise(people.length, ROOM_DB, 5);
});

const grid = [20, 70, 150, 250, 400, 480, 700, 850].flatMap((delayMs, row) =>
  (row % 2 ? [0, -20] : [-10, -30]).map((gainDb, column) => ({ delayMs, gainDb, rt60S: column ? 0.7 : 0.3 })),
);

describe('the echo detector', () => {
  it.each(grid)('measures $delayMs ms, $gainDb dB in a room of $rt60S s', (path) => {
    const part = said.subarray(0, PART_S * VOICE_RATE_HZ);
    expectMeasured(detect(part, together(through(path, part), room)), path);
  });

  it.each([
    { delayMs: 150, gainDb: 0, rt60S: 0.3 },
    { delayMs: 250, gainDb: -10, rt60S: 0.3 },
    { delayMs: 70, gainDb: -20, rt60S: 0.3 },
  ])('finds $gainDb dB while a visitor speaks without a pause', (path) => {
    const measures = detect(said, together(through(path, said), people, room));
    const right = measures.filter(({ delayMs }) => Math.abs(delayMs - path.delayMs) <= 5);
    expect(right.length).toBeGreaterThanOrEqual(3);
    expect(measures.length - right.length).toBeLessThanOrEqual(1);
  });

  it('takes no other speech for an echo, however much of it there is', () => {
    let measures = 0;
    for (let beginS = 2; beginS < 34; beginS += 8) {
      for (const shift of [0.8, 1.3]) {
        measures += detect(interpreter(people, { shift, beginS }), together(people, room)).length;
      }
    }
    // Nearly five minutes in which two people speak at once.
    expect(measures).toBeLessThanOrEqual(1);
  });
});
