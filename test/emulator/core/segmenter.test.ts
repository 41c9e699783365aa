import { describe, expect, test } from 'vitest';
import { loadSpeechDetector } from '../../../src/adapters/voice/speech-detector.ts';
import {
  createSegmenter,
  type SegmentEvent,
  type SegmenterRules,
} from '../../../src/emulator/core/segmenter.ts';
import type { SplitRules } from '../../../src/emulator/core/word-gaps.ts';
import type { VoiceDetector } from '../../../src/ports/voice.ts';
import { createEnergyDetector } from '../../../src/sound/energy-detector.ts';
import { concat, noise, speech } from './voice.ts';

const RATE_HZ = 24_000;
const RULES: SegmenterRules = {
  silenceThresholdMs: 700,
  minSpeechMs: 200,
  maxSegmentMs: 12_000,
  split: null,
};

/** A detector for marked sound: positive samples are voice. */
function markedDetector(): VoiceDetector {
  return {
    hear(pcm, report) {
      for (let at = 0; at < pcm.length; at += 240) {
        const frame = pcm.subarray(at, at + 240);
        report((frame[0] ?? 0) > 0, frame.length);
      }
    },
    close() {},
  };
}

/** Voice (+) and silence (-) in milliseconds at 24 kHz, for the detector of marked sound. */
function marked(...pattern: readonly number[]): Int16Array {
  return concat(...pattern.map((ms) => new Int16Array(Math.round(Math.abs(ms) * 24)).fill(ms > 0 ? 1 : -1)));
}

function run(
  sound: Int16Array,
  detector = markedDetector(),
  rules = RULES,
  rateHz = RATE_HZ,
): SegmentEvent[] {
  const segmenter = createSegmenter(detector, rateHz, { ...rules });
  const events: SegmentEvent[] = [];
  for (let at = 0; at < sound.length; at += 7680)
    events.push(...segmenter.hear(sound.subarray(at, at + 7680)));
  return events;
}

const confirmed = (events: readonly SegmentEvent[]) =>
  events.flatMap((event) => (event.kind === 'confirmed' ? [event] : []));

describe('a segmenter', () => {
  test('confirms a sentence after the silence, not before', () => {
    expect(run(marked(-500, 1000, -680))).toEqual([expect.objectContaining({ kind: 'started' })]);
    expect(confirmed(run(marked(-500, 1000, -720)))).toHaveLength(1);
  });

  test('keeps a sentence together when a pause is shorter than the threshold', () => {
    expect(confirmed(run(marked(-500, 900, -600, 900, -800)))).toHaveLength(1);
    expect(confirmed(run(marked(-500, 900, -800, 900, -800)))).toHaveLength(2);
  });

  test('uses the threshold of the rules', () => {
    const rules = { ...RULES, silenceThresholdMs: 300 };
    expect(confirmed(run(marked(-500, 900, -350, 900, -350), markedDetector(), rules))).toHaveLength(2);
  });

  test('begins a sentence before its onset and ends it a little after its last voice', () => {
    const [sentence] = confirmed(run(marked(-1000, 1000, -1000)));
    const ms = (position = 0) => (position / RATE_HZ) * 1000;
    expect(ms(sentence?.from)).toBeGreaterThan(700);
    expect(ms(sentence?.from)).toBeLessThanOrEqual(1000);
    expect(ms(sentence?.to)).toBeGreaterThanOrEqual(2100);
    expect(ms(sentence?.to)).toBeLessThan(2300);
    expect(sentence?.voicedMs).toBeGreaterThan(900);
  });

  test('never gives one sample to two sentences', () => {
    const [first, second] = confirmed(run(marked(-300, 800, -720, 800, -720)));
    expect(second?.from).toBeGreaterThanOrEqual(first?.to ?? Number.NaN);
  });

  test('starts no sentence for single frames of noise', () => {
    expect(run(marked(-500, 40, -300, 40, -300, 60, -1000))).toEqual([]);
  });

  test('ends a sentence despite clicks in the pause', () => {
    const clicks = Array.from({ length: 8 }, () => [20, -80]).flat();
    expect(confirmed(run(marked(-500, 1000, -100, ...clicks)))).toHaveLength(1);
  });

  test('drops a cough', () => {
    expect(run(marked(-500, 150, -900)).map((event) => event.kind)).toEqual(['started', 'dropped']);
  });

  test('cuts speech without pauses at the maximum length, or earlier at a short pause', () => {
    const [first, second] = confirmed(run(marked(30_000)));
    expect((first?.to ?? 0) / RATE_HZ).toBeCloseTo(12, 0);
    expect(second).toBeDefined();
    const [patient] = confirmed(run(marked(10_000, -300, 10_000)));
    expect((patient?.to ?? 0) / RATE_HZ).toBeLessThan(10.3);
  });

  test('cuts at a short pause near the maximum length without a shared sample', () => {
    const [first, second] = confirmed(run(marked(-300, 9500, -260, 2000, -800)));
    expect((first?.to ?? 0) / RATE_HZ).toBeCloseTo(9.96, 1);
    expect(second?.from).toBeGreaterThanOrEqual(first?.to ?? Number.NaN);
  });

  test('confirms the running sentence on flush', () => {
    const segmenter = createSegmenter(markedDetector(), RATE_HZ, { ...RULES });
    segmenter.hear(marked(-300, 1000));
    expect(segmenter.speaking).toBe(true);
    expect(segmenter.flush()).toEqual([expect.objectContaining({ kind: 'confirmed' })]);
    expect(segmenter.flush()).toEqual([]);
  });

  test('gives the same result for any size of frames', () => {
    const sound = marked(-410, 930, -750, 300, -90, 410, -1200);
    const whole = createSegmenter(markedDetector(), RATE_HZ, { ...RULES }).hear(sound);
    const segmenter = createSegmenter(markedDetector(), RATE_HZ, { ...RULES });
    const pieces: SegmentEvent[] = [];
    for (let at = 0; at < sound.length; at += 240)
      pieces.push(...segmenter.hear(sound.subarray(at, at + 240)));
    expect(pieces).toEqual(whole);
  });

  test('reports which sound it still needs', () => {
    const segmenter = createSegmenter(markedDetector(), RATE_HZ, { ...RULES });
    segmenter.hear(marked(-5000));
    expect(segmenter.neededFrom).toBeGreaterThan(4 * RATE_HZ);
    const [started] = segmenter.hear(marked(1000));
    expect(segmenter.neededFrom).toBe(started?.kind === 'started' ? started.from : Number.NaN);
  });
});

describe('a sentence without a pause', () => {
  const rules = (change: Partial<SplitRules> = {}): SegmenterRules => ({
    ...RULES,
    split: { afterMs: 6000, minPartMs: 4000, wordMs: 380, isDue: () => true, ...change },
  });
  const parts = (sound: Int16Array, given = rules()) =>
    confirmed(run(sound, markedDetector(), given)).map(({ voice }) => [
      Math.round(voice.from / 24),
      Math.round(voice.to / 24),
    ]);

  test('is cut after 6 s at the end of a word, into adjacent parts', () => {
    // 15 words of 380 ms fit into 6 s.
    expect(parts(marked(-500, 10_000, -800))).toEqual([
      [500, 500 + 15 * 380],
      [500 + 15 * 380, 10_500],
    ]);
  });

  test('is cut in the longest dip after the shortest part', () => {
    const dips = marked(-500, 1000, -300, 3200, -100, 900, -200, 3000, -800);
    // The dip of 300 ms lies too early; those of 100 and 200 ms end 4.6 s and 5.7 s into the sentence.
    expect(parts(dips)).toEqual([
      [500, 6200],
      [6200, 9200],
    ]);
  });

  test('is cut in a dip that contains a click', () => {
    expect(parts(marked(-500, 4500, -200, 20, -100, 3000, -800))).toEqual([
      [500, 500 + 4500 + 320],
      [5320, 8320],
    ]);
  });

  test('is not cut before the rule allows it, nor into parts that are too short', () => {
    expect(parts(marked(-500, 6500, -800), rules({ isDue: (lengthMs) => lengthMs >= 7000 }))).toHaveLength(1);
    const [first] = parts(marked(-500, 9000, -800), rules({ afterMs: 2000 }));
    expect((first?.[1] ?? 0) - (first?.[0] ?? 0)).toBeGreaterThanOrEqual(4000);
  });

  test('is cut repeatedly, and keeps even a very short rest', () => {
    const cut = parts(marked(-500, 13_400, -800));
    expect(cut).toHaveLength(3);
    for (const [index, part] of cut.slice(1).entries()) expect(part[0]).toBe(cut[index]?.[1]);
    const short = parts(marked(-500, 5700 + 320, -800));
    expect(short).toEqual([
      [500, 6200],
      [6200, 6520],
    ]);
  });

  test('is not cut when it ends in time', () => {
    expect(parts(marked(-500, 5900, -800))).toEqual([[500, 6400]]);
    expect(parts(marked(-500, 5900, -650, 300, -800))).toHaveLength(2);
  });

  test('has all its sound in its parts', () => {
    const [first, second] = confirmed(run(marked(-500, 10_000, -800), markedDetector(), rules()));
    expect(second?.from).toBe(first?.to);
    expect((first?.voicedMs ?? 0) + (second?.voicedMs ?? 0)).toBe(10_000);
  });
});

describe('detectors in a noisy room', async () => {
  const trained = await loadSpeechDetector();
  const quiet = (seconds: number) => noise(seconds, RATE_HZ, 80, 3);
  const visit = concat(
    quiet(1.5),
    speech(2, RATE_HZ),
    quiet(0.4),
    speech(1.2, RATE_HZ),
    quiet(1.2),
    speech(1.5, RATE_HZ),
    quiet(1.2),
  );

  test('include the trained detector', () => {
    expect(trained.name).toBe('fvad');
  });

  test.each([
    ['trained', trained.create],
    ['energy', createEnergyDetector],
  ] as const)('%s: join at a hesitation, cut at a pause, and find the room silent', (_name, create) => {
    expect(confirmed(run(visit, create(RATE_HZ)))).toHaveLength(2);
    expect(run(quiet(20), create(RATE_HZ))).toEqual([]);
  });

  test.each([8000, 16_000, 24_000, 44_100, 48_000])('include a trained one that works at %i Hz', (rateHz) => {
    const sound = concat(noise(1, rateHz, 60), speech(2, rateHz), noise(1.2, rateHz, 60));
    const [sentence] = confirmed(run(sound, trained.create(rateHz), RULES, rateHz));
    expect((sentence?.from ?? 0) / rateHz).toBeGreaterThan(0.6);
    expect((sentence?.from ?? 9e9) / rateHz).toBeLessThan(1.25);
    expect((sentence?.to ?? 0) / rateHz).toBeGreaterThan(2.8);
  });

  test('leak no memory when they are created and closed', () => {
    for (let count = 0; count < 5000; count++) trained.create(RATE_HZ).close();
    const detector = trained.create(RATE_HZ);
    const heard: boolean[] = [];
    detector.hear(speech(1, RATE_HZ), (voiced) => heard.push(voiced));
    detector.close();
    expect(heard.filter(Boolean).length).toBeGreaterThan(20);
  });
});
