import { fileURLToPath } from 'node:url';
import { loadWav } from '../../../src/adapters/audio/sound-source.ts';
import { createEnergyDetector } from '../../../src/core/audio/energy-detector.ts';
import { toFloat, toPcm } from '../../../src/core/audio/pcm.ts';
import { withTalk } from '../../../src/core/speech/talk-detector.ts';
import { createDice } from '../../sim/dice.ts';
import { pink } from '../../voices/noises.ts';
import { atLevel, mixIn } from '../../voices/room.ts';

export const RATE_HZ = 24_000;
const CHUNK_MS = 320;

/** The score of each chunk of 320 ms; null before there is one. */
export function scores(sound: Float32Array, rateHz = RATE_HZ): (number | null)[] {
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

export const highest = (all: readonly (number | null)[]): number =>
  Math.max(...all.map((score) => score ?? -100));

/** The visitors of the demo's recording, behind some seconds of a room. */
export async function inRoom(levelDb: number, roomDb: number): Promise<Float32Array> {
  const recording = fileURLToPath(new URL('../../../src/cli/demo/visitor.wav', import.meta.url));
  const { pcm } = await loadWav(recording);
  const said = toFloat(pcm);
  const sound = atLevel(pink(8 * RATE_HZ + said.length, createDice(3)), roomDb);
  mixIn(sound, atLevel(said, levelDb), 8 * RATE_HZ);
  return sound;
}
