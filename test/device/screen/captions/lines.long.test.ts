import { describe, expect, it } from 'vitest';
import { fc } from '../../../properties.ts';
import { partials } from './drawn.ts';
import { erasureOf, paintedAfterEach } from './erasure.ts';

describe('the lines of captions', () => {
  it('hold still in 100,000 sequences of partials', () => {
    fc.assert(
      fc.property(partials, fc.integer({ min: 4, max: 40 }), ({ language, said }, width) => {
        expect(erasureOf(paintedAfterEach(said, language, width))).toBe(0);
      }),
      { numRuns: 100_000 },
    );
  });
});
