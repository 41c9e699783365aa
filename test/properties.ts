import fc from 'fast-check';

/**
 * Draws are the same in each run, so that a failure is the change's own: what fresh draws find was there before it.
 * `PROPERTY_SEED=random npm test` (or a number) looks for such.
 */
const wanted = process.env['PROPERTY_SEED'] ?? '1';
if (wanted !== 'random') fc.configureGlobal({ seed: Number(wanted) });

export { fc };
