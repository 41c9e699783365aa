import { expect, it } from 'vitest';
import { consoleFilters } from '../../../src/backend/fleet/fleet-topics.ts';

it('asks for retained messages only of topics of which a device has one', () => {
  for (const { filter, isWithoutRetained = false } of consoleFilters('p')) {
    const [, , ...own] = filter.replace('/group/', '/').split('/').slice(1);
    expect([filter, isWithoutRetained || !own.includes('+')]).toEqual([filter, true]);
  }
  const kept = consoleFilters('p').filter(({ isWithoutRetained }) => !isWithoutRetained);
  expect(kept.map(({ filter }) => filter).sort()).toEqual(
    [
      'p/+/+/config/desired',
      'p/+/+/config/reported',
      'p/+/+/state',
      'p/+/+/status',
      'p/+/group/+/config/desired',
    ].sort(),
  );
});
