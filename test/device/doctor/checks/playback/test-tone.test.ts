import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../../../src/core/random.ts';
import { findTone, makeTone, TONE_MS } from '../../../../../src/device/doctor/checks/playback/test-tone.ts';
import {
  expectDelayAndGain,
  expectFound,
  expectNotInSpeech,
  fan,
  type NamedRoom,
  record,
} from './recorded-tone.ts';

describe('the test tone', () => {
  it('has the stated length, is clearly audible, and never clips', () => {
    const tone = makeTone(24_000);
    expect(tone.length).toBe((TONE_MS * 24_000) / 1000);
    const peak = tone.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    expect(peak).toBeGreaterThan(0.15);
    expect(peak).toBeLessThan(0.2);
    expect(Math.max(...makeTone(24_000, 0.5))).toBeCloseTo(Math.max(...tone) / 2, 5);
  });

  it.each<NamedRoom>([
    ['beside the microphone', { delayMs: 20, gainDb: 0 }, 0.5],
    ['as loud as it can be', { delayMs: 45, gainDb: 8, noiseDb: null }, 0.5],
    ['very late', { delayMs: 700, gainDb: -25 }, 1],
    ['below the noise', { delayMs: 60, gainDb: -30, noiseDb: -45 }, 2.5],
    ['at a low volume', { delayMs: 60, gainDb: -12, volume: 0.1 }, 1],
    ['by a slow clock', { delayMs: 150, gainDb: -20, ppm: 300 }, 1.5],
    ['at 16 kHz', { delayMs: 90, gainDb: -20, rateHz: 16_000 }, 0.5],
  ])('is found %s: its delay and its gain', (...room) => {
    expectDelayAndGain(room);
  });

  it('is found in a room with 900 ms of reverberation', () => {
    expectFound(900, 1);
  });

  it.each([-10, null])('is not found when it is absent: noise of %s dB', (noiseDb) => {
    expect(findTone(record({ gainDb: -200, noiseDb }), 24_000)).toBeNull();
  });

  it('is not mistaken for hum, a click, a slammed door or people talking', async () => {
    const rateHz = 24_000;
    const samples = 4 * rateHz;
    const hum = Float32Array.from(
      { length: samples },
      (_, at) => 0.3 * Math.sin((2 * Math.PI * 1000 * at) / rateHz),
    );
    expect(findTone(hum, rateHz)).toBeNull();
    const click = new Float32Array(samples);
    click[30_000] = 1;
    expect(findTone(click, rateHz)).toBeNull();
    const next = seededRandom(5);
    const door = Float32Array.from({ length: samples }, (_, at) =>
      at < 40_000 ? 0 : (next() - 0.5) * Math.exp((40_000 - at) / 3000),
    );
    expect(findTone(door, rateHz)).toBeNull();
    expect(findTone(fan(samples, 1), rateHz)).toBeNull();
    await expectNotInSpeech(3);
  });

  it('is not found in a recording that is too short for it', () => {
    expect(findTone(new Float32Array(100), 24_000)).toBeNull();
    expect(findTone(new Float32Array(0), 24_000)).toBeNull();
  });
});
