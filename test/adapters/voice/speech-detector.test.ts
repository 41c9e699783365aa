import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { loadWav } from '../../../src/adapters/audio/sound-source.ts';
import { loadSpeechDetector } from '../../../src/adapters/voice/speech-detector.ts';
import { samplesOf } from '../../../src/sound/pcm.ts';

const RECORDING = fileURLToPath(new URL('../../../src/cli/demo/visitor.wav', import.meta.url));
const { sentences } = JSON.parse(readFileSync(RECORDING.replace(/wav$/, 'json'), 'utf8')) as {
  sentences: { start: number; end: number }[];
};

describe('the voice detector', () => {
  it('is the one that was trained on speech', async () => {
    expect((await loadSpeechDetector()).name).toBe('fvad');
  });

  it('detects the visitors in the recording, and not the room between them', async () => {
    const { create } = await loadSpeechDetector();
    const { pcm, rateHz } = await loadWav(RECORDING);
    const detector = create(rateHz);
    let at = 0;
    const inside = { voiced: 0, samples: 0 };
    const outside = { voiced: 0, samples: 0 };
    detector.hear(samplesOf(pcm), (voiced, samples) => {
      const second = at / rateHz;
      at += samples;
      // The detector reacts with a delay: a tenth of a second around each sentence belongs to neither side.
      const isSaid = sentences.some(({ start, end }) => second > start && second < end);
      const isNear = sentences.some(({ start, end }) => second > start - 0.1 && second < end + 0.3);
      const side = isSaid ? inside : isNear ? null : outside;
      if (side === null) return;
      side.samples += samples;
      if (voiced) side.voiced += samples;
    });
    detector.close();
    expect(inside.voiced / inside.samples).toBeGreaterThan(0.6);
    expect(outside.voiced / outside.samples).toBeLessThan(0.05);
  });
});
