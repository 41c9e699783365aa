import { it } from 'vitest';
import { expectNoEcho } from './spoken-tones.ts';

it.each([614, 635, 684, 705, 719, 740])(
  'no tone is taken for an echo of another that is said %d ms later, meanwhile',
  (saidAfterMs) => {
    expectNoEcho([saidAfterMs]);
  },
);
