import type { Generation } from './terms.ts';

/** Seeds that once found a defect, of the agent or of the simulator itself, and what it was. The short ones run with every test. */
export interface Regression {
  readonly seed: number;
  readonly hours: number;
  /** As the seed drew when it found it. */
  readonly generation: Generation;
  readonly found: string;
}
