import { describe } from 'vitest';
import { hangUp } from './forbidding-broker.ts';

describe('an agent whose broker hangs up because of a topic', () => {
  const { goesOnWithout } = hangUp();

  goesOnWithout([
    ['status', /^status$/, 'status', null],
    ['status and state', /^stat(e|us)$/, 'status', null],
    ['events', /^event\//, 'event/session_started', 'event'],
    ['health', /^health$/, 'health', 'health'],
    ['config/reported', /^config\/reported$/, 'config/reported', 'config/reported'],
  ]);
});
