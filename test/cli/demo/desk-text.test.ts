import { expect, it } from 'vitest';
import { formatSaid } from '../../../src/cli/demo/desk.ts';

it('stays within 80 columns, and indents what goes on', () => {
  const text = 'My daughter uses a wheelchair. Is there a lift to the second floor?';
  expect(formatSaid('desk', '-> en', text)).toBe(
    `desk     -> en  ${text.slice(0, -7)}\n                floor?\n`,
  );
  expect(formatSaid('visitor', '   es', '¿Dónde?')).toBe('visitor     es  ¿Dónde?\n');
});
