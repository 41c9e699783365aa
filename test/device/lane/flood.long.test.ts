import { describe } from 'vitest';
import { testFlood } from './flood.ts';

describe('a service that sends without end', () => {
  testFlood({ full: 600, all: 1200, mixtures: 10 });
});
