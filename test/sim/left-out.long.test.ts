import { describe } from 'vitest';
import { testLeftOut } from './left-out-world.ts';

describe('a service that gives interim texts of a sentence and no more', () => {
  testLeftOut(0.4);
});
