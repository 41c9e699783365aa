import { expect, it } from 'vitest';
import { displayWidth } from '../../../src/cli/demo/display-text.ts';
import { ANY_CHARACTER, fc } from '../../properties.ts';
import { frameOf } from './made-up.ts';

/** @param numRuns number of drawn frames */
export function testAnyText(numRuns: number): void {
  it('never exceeds the terminal, whatever the texts', () => {
    const anyText = fc.string({ unit: ANY_CHARACTER, maxLength: 300 });
    const anyExchange = fc.record({
      seq: fc.nat(),
      id: fc.constant(null),
      sourceLanguage: anyText,
      source: anyText,
      isFinal: fc.boolean(),
      translations: fc.array(fc.record({ language: anyText, text: anyText, isFinal: fc.boolean() }), {
        maxLength: 3,
      }),
    });
    fc.assert(
      fc.property(
        fc.array(anyExchange, { maxLength: 6 }),
        fc.integer({ min: 20, max: 120 }),
        fc.integer({ min: 2, max: 60 }),
        (exchanges, columns, rows) => {
          const frame = frameOf({ exchanges }, { columns, rows });
          expect(frame.length).toBeLessThan(rows);
          for (const row of frame) {
            expect(displayWidth(row)).toBeLessThan(columns);
            expect(row).not.toMatch(/\p{Cc}/u);
          }
        },
      ),
      { numRuns },
    );
  });
}
