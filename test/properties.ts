import fc from 'fast-check';

/**
 * Property tests use the same draws in each run, so that a new failure comes from the change under test.
 * `PROPERTY_SEED=random npm test` (or a number) uses other draws, to find older defects.
 */
const wanted = process.env['PROPERTY_SEED'] ?? '1';
if (wanted !== 'random') fc.configureGlobal({ seed: Number(wanted) });

export { fc };
