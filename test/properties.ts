import fc from 'fast-check';

/**
 * Property tests use the same draws in each run, so that a new failure comes from the change under test.
 * `PROPERTY_SEED=random npm test` (or a number) uses other draws, to find older defects. A given length is reached: otherwise arrays
 * had ten elements at most, and no sequence filled a queue.
 */
const wanted = process.env['PROPERTY_SEED'] ?? '1';
fc.configureGlobal({
  ...(wanted === 'random' ? {} : { seed: Number(wanted) }),
  defaultSizeToMaxWhenMaxSpecified: true,
});

/** Any character, as a unit of strings. Fast-check's own unit `binary` makes a table of a million characters first, which takes a second. */
export const ANY_CHARACTER = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code));

export { fc };
