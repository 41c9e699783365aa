import { describe } from 'vitest';
import { testAnyMixture } from './flapping-bus.ts';

describe('a broker connection that somebody needs', () => testAnyMixture(400));
