import { describe } from 'vitest';
import { testAnyOrder } from './issuer-tests.ts';

describe('issuer', () => testAnyOrder(1000));
