import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { loadWav } from '../../../src/adapters/audio/sound-source.ts';
import { createEnergyDetector } from '../../../src/core/audio/energy-detector.ts';
import { toFloat, toPcm } from '../../../src/core/audio/pcm.ts';
import { withTalk } from '../../../src/core/speech/talk-detector.ts';
import { resampleBy } from '../../../src/emulator/core/resample.ts';
import { createDice } from '../../sim/dice.ts';
import { brown, diceFor, fan, happen, hum, pink, ring, slam, walk } from '../../voices/noises.ts';
import { atLevel, mixIn } from '../../voices/room.ts';

const RATE_HZ = 24_000;
const CHUNK_MS = 320;

/** The score of each chunk of 320 ms; null before there is one. */
function scores(sound: Float32Array, rateHz = RATE_HZ): (number | null)[] {
  const detector = withTalk(createEnergyDetector)(rateHz);
  const chunk = Math.round((rateHz * CHUNK_MS) / 1000);
  const found: (number | null)[] = [];
  for (let at = 0; at + chunk <= sound.length; at += chunk) {
    const bytes = toPcm(sound.subarray(at, at + chunk));
    detector.hear(new Int16Array(bytes.buffer, bytes.byteOffset, chunk), () => {});
    found.push(detector.talk?.()?.score ?? null);
  }
  detector.close();
  return found;
}

const highest = (all: readonly (number | null)[]): number => Math.max(...all.map((score) => score ?? -100));

/** The visitors of the demo's recording, behind some seconds of a room. */
async function inRoom(levelDb: number, roomDb: number): Promise<Float32Array> {
  const recording = fileURLToPath(new URL('../../../src/cli/demo/visitor.wav', import.meta.url));
  const { pcm } = await loadWav(recording);
  const said = toFloat(pcm);
  const sound = atLevel(pink(8 * RATE_HZ + said.length, createDice(3)), roomDb);
  mixIn(sound, atLevel(said, levelDb), 8 * RATE_HZ);
  return sound;
}

describe('what tells somebody who speaks from a room', () => {
  it('needs more than a second to say anything', () => {
    const [first, second, third, fourth, fifth] = scores(new Float32Array(RATE_HZ * 2));
    expect([first, second, third]).toEqual([null, null, null]);
    expect(fourth).toBeLessThan(0);
    expect(fifth).toBeLessThan(0);
  });

  it.each([
    [-20, -60],
    [-20, -30],
    [-38, -50],
    [-46, -60],
  ])('hears visitors at %i dBFS in a room at %i', async (levelDb, roomDb) => {
    const all = scores(await inRoom(levelDb, roomDb));
    expect(highest(all.slice(0, 24))).toBeLessThan(0);
    // The first sentence, not only one of them.
    expect(highest(all.slice(25, 34))).toBeGreaterThan(0);
  });

  it.each([8000, 16_000, 22_050, 44_100, 48_000])('hears them at %i samples a second', async (rateHz) => {
    const sound = resampleBy(await inRoom(-25, -55), RATE_HZ / rateHz);
    const all = scores(sound, rateHz);
    expect(highest(all.slice(0, 24))).toBeLessThan(0);
    expect(highest(all.slice(25, 34))).toBeGreaterThan(0);
  });

  it('does not mind digital silence, full scale, or an offset', () => {
    for (const value of [0, 1, -1, 0.5]) {
      const all = scores(new Float32Array(RATE_HZ * 5).fill(value));
      expect(highest(all)).toBeLessThan(0);
      expect(all.slice(4).every((score) => Number.isFinite(score))).toBe(true);
    }
    const square = Float32Array.from({ length: RATE_HZ * 5 }, (_, index) => (index % 240 < 120 ? 1 : -1));
    expect(highest(scores(square))).toBeLessThan(0);
  });

  it.each([
    ['a fan', fan],
    ['hum', hum],
    ['brown noise', brown],
    ['pink noise', pink],
  ])('takes %s for no speech, at any level', (_, make) => {
    for (const levelDb of [-50, -30, -10]) {
      const sound = atLevel(make(40 * RATE_HZ, createDice(levelDb + 100)), levelDb);
      expect(highest(scores(sound))).toBeLessThan(0);
    }
  });

  it('takes no machine for speech that is switched on in the place of another', () => {
    for (let seed = 28; seed <= 30; seed++) {
      const dice = createDice(seed);
      const sound = new Float32Array(16 * RATE_HZ);
      mixIn(sound, atLevel(hum(8 * RATE_HZ, dice), dice.between(-50, -35)), 0);
      mixIn(sound, atLevel(hum(8 * RATE_HZ, dice), dice.between(-40, -25)), 8 * RATE_HZ);
      expect(highest(scores(sound)), `hum ${seed}`).toBeLessThan(0);
    }
  });

  it.each([
    ['slammed doors', -14, slam],
    ['steps', -26, walk],
    ['phones', -24, ring],
  ])('hardly ever takes %s for speech', (_, levelDb, make) => {
    const sound = happen(600 * RATE_HZ, createDice(17), levelDb, make);
    const chunks = scores(sound);
    const mistaken = chunks.filter((score) => (score ?? -1) > 0).length;
    expect(mistaken / chunks.length).toBeLessThan(0.005);
  });

  it.each([
    [102, 8, -14],
    [101, 28, -20],
    [102, 34, -8],
    [102, 19, -20],
  ])('takes no door for speech whose echo turns like a voice (%i, %i)', (seed, stretch, levelDb) => {
    const sound = happen(72 * RATE_HZ, diceFor(seed, 'slams', stretch), -14, slam);
    expect(highest(scores(atLevel(sound, levelDb, -14)))).toBeLessThan(0);
  });
});
