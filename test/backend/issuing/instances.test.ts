import { describe } from 'vitest';
import { testInstances } from './instances-tests.ts';

describe('two backends with one store', () => testInstances(4));
