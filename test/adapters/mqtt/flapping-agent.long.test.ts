import { describe } from 'vitest';
import { testAnyTrouble } from './flapping-agent.ts';

describe('a session that is revoked while the line to the broker is bad', () => testAnyTrouble(60));
