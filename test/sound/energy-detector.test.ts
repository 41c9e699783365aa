import { describe, expect, it } from 'vitest';
import { createEnergyDetector } from '../../src/sound/energy-detector.ts';

const RATE_HZ = 16_000;

/** A tone of this amplitude. */
function tone(ms: number, amplitude: number): Int16Array {
  return Int16Array.from({ length: (RATE_HZ * ms) / 1000 }, (_, i) =>
    Math.round(amplitude * Math.sin(i * 0.37)),
  );
}

/** The verdicts on this sound, in pieces of this many samples. */
function verdicts(sounds: readonly Int16Array[], piece = 333): { voiced: boolean; samples: number }[] {
  const heard: { voiced: boolean; samples: number }[] = [];
  const detector = createEnergyDetector(RATE_HZ);
  for (const sound of sounds) {
    for (let at = 0; at < sound.length; at += piece) {
      detector.hear(sound.subarray(at, at + piece), (voiced, samples) => heard.push({ voiced, samples }));
    }
  }
  detector.close();
  return heard;
}

describe('the energy detector', () => {
  it('gives one verdict for each 20 ms, however the sound is cut', () => {
    for (const piece of [1, 100, 320, 5000]) {
      const heard = verdicts([tone(200, 8000)], piece);
      expect(heard).toHaveLength(10);
      expect(heard.every(({ samples }) => samples === 320)).toBe(true);
    }
  });

  it('hears sound that stands out from the room, and not the room', () => {
    const heard = verdicts([tone(1000, 200), tone(400, 8000), tone(400, 200)]).map(({ voiced }) => voiced);
    expect(heard.slice(10, 49)).not.toContain(true);
    expect(heard.slice(51, 69)).not.toContain(false);
    expect(heard.slice(72)).not.toContain(true);
  });

  it('hears nothing in digital silence, and nothing in a steady fan', () => {
    expect(verdicts([tone(500, 0)]).some(({ voiced }) => voiced)).toBe(false);
    const fan = verdicts([tone(60_000, 600)]).map(({ voiced }) => voiced);
    expect(fan.slice(-100)).not.toContain(true);
  });
});
