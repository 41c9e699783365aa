import { expect, it } from 'vitest';
import { loadWav } from '../../../src/adapters/audio/sound-source.ts';
import { raiseVoices, recordNear } from '../../../src/cli/demo/desk-sound.ts';
import { shippedRecording } from '../../../src/cli/demo/input.ts';
import recording from '../../../src/cli/demo/visitor.json' with { type: 'json' };
import { isOthers, type Side } from '../../../src/device/lane/room/floor.ts';
import { EMPTY_ROOM, hear } from '../../../src/device/lane/room/room.ts';
import { createSpokenLanguage } from '../../../src/emulator/core/spoken-language.ts';
import { samplesOf } from '../../../src/sound/pcm.ts';

const RATE_HZ = 24_000;
const PIECE = RATE_HZ / 10;
const CLERK = 'man';

const { pcm } = await loadWav(shippedRecording(), { rateHz: RATE_HZ });
const { sentences } = recording;
const whole = raiseVoices(samplesOf(pcm), RATE_HZ, sentences, (one) => one !== CLERK);

it('raises the voices of the visitors, so that the emulator hears two languages', () => {
  const language = createSpokenLanguage(() => ({ languages: ['en', 'es'], rateHz: RATE_HZ }));
  const heard = sentences.map(({ start, end }) => {
    language.restart();
    const sound = (): Int16Array => whole.subarray(start * RATE_HZ, end * RATE_HZ);
    return language.of({ voicedMs: (end - start) * 1000, sound }, true);
  });
  expect(heard).toEqual(sentences.map(({ speaker }) => (speaker === CLERK ? 'en' : 'es')));
});

it('gives each sentence of the recording to the nearer of two microphones', () => {
  const near = (isNear: (speaker: string) => boolean) => recordNear(whole, RATE_HZ, sentences, isNear);
  const microphones = [near((one) => one === CLERK), near((one) => one !== CLERK)] as const;
  let room = EMPTY_ROOM;
  const wrong: string[] = [];
  for (let at = 0; at + PIECE <= whole.length; at += PIECE) {
    const until = ((at + PIECE) / RATE_HZ) * 1000;
    for (const side of [0, 1] as const) {
      const piece = new Uint8Array(microphones[side].slice(at, at + PIECE).buffer);
      room = hear(room, side, piece, until, RATE_HZ);
    }
    // The floor remembers the last turns only.
    for (const { speaker, start, end, text } of sentences) {
      const middle = Math.round(((start + end) / 2) * 50);
      if (Math.abs(middle * 20 - until) > 1000 || middle * 20 > until - 300) continue;
      const side: Side = speaker === CLERK ? 0 : 1;
      if (isOthers(room.floor, side, middle)) wrong.push(text);
    }
  }
  expect([...new Set(wrong)]).toEqual([]);
});
