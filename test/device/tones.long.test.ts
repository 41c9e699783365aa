import { it } from 'vitest';
import { expectNoEcho } from './spoken-tones.ts';

it.each([614, 635, 684, 705, 719, 740])(
  'takes no tone for an echo when it is played again %d ms later',
  (saidAfterMs) => {
    expectNoEcho([saidAfterMs]);
  },
);
