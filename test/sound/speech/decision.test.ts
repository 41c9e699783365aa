import { expect, it } from 'vitest';
import { looksLikeSpeech } from '../../../src/sound/speech/decision.ts';

it('speech is shown when a quarter of a stretch is voice, and never in silence', () => {
  expect(looksLikeSpeech(20, 100)).toBe(false);
  expect(looksLikeSpeech(30, 100)).toBe(true);
  expect(looksLikeSpeech(240, 1000)).toBe(false);
  expect(looksLikeSpeech(0, 0)).toBe(false);
});
