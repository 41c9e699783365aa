import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/core/random.ts';
import { createPathChangeDetector } from '../../src/sound/canceller/path-change.ts';
import { createRecentSound } from '../../src/sound/canceller/recent-sound.ts';

const block = (value: number): Float32Array => new Float32Array(4).fill(value);

describe('recently heard sound', () => {
  it('is returned newest first, with silence before it, and can be forgotten', () => {
    const recall = createRecentSound(4, 3);
    expect(recall.blocks).toBe(0);
    expect(recall.blockAt(1)).toEqual(block(0));
    for (const value of [1, 2, 3, 4]) recall.hear(block(value));
    expect(recall.blocks).toBe(3);
    expect([1, 2, 3, 4].map((ago) => recall.blockAt(ago)[0])).toEqual([4, 3, 2, 0]);
    recall.forget();
    expect(recall.blocks).toBe(0);
    expect(recall.blockAt(1)).toEqual(block(0));
    recall.hear(block(5));
    expect(recall.blockAt(1)).toEqual(block(5));
  });
});

describe('a changed path', () => {
  /** Feeds a second of echo with this remaining share. @returns whether a change was reported */
  const feed = (detector: ReturnType<typeof createPathChangeDetector>, share: number): boolean => {
    let reported = false;
    for (let count = 0; count < 100; count++) {
      const echo = Float64Array.from({ length: 240 }, (_, at) => 0.1 * Math.sin(at * 0.3 + count));
      reported = detector.hear(
        echo,
        echo.map((sample) => sample * share),
      )
        ? true
        : reported;
    }
    return reported;
  };

  it('is reported only for a known path, not while learning', () => {
    const detector = createPathChangeDetector(10, 240);
    expect(feed(detector, 0.8)).toBe(false);
    expect(feed(detector, 0.05)).toBe(false);
    expect(feed(detector, 0.8)).toBe(true);
    // Reported once, until the path is known again.
    expect(feed(detector, 0.8)).toBe(false);
    expect(feed(detector, 0.05)).toBe(false);
    expect(feed(detector, 0.8)).toBe(true);
  });

  it.each([
    { share: 0.3, isReported: false },
    { share: 0.55, isReported: true },
  ])(
    'is reported when the microphone hears a visitor and a share of $share of the echo: $isReported',
    ({ share, isReported }) => {
      const dice = seededRandom(5);
      const sound = (): Float64Array => Float64Array.from({ length: 240 }, () => 0.2 * (dice() - 0.5));
      const detector = createPathChangeDetector(10, 240);
      let reported = false;
      for (let count = 0; count < 400; count++) {
        const [echo, visitor] = [sound(), sound()];
        const isVisited = count >= 200;
        const rest = visitor.map((sample, at) =>
          isVisited ? Math.sqrt(share) * (echo[at] ?? 0) + Math.sqrt(1 - share) * sample : 0.01 * sample,
        );
        if (detector.hear(echo, rest)) reported = true;
      }
      expect(reported).toBe(isReported);
    },
  );
});
