import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { CHECK_LIST } from '../../../src/device/doctor/check-list.ts';
import { CHECKS } from '../../../src/protocol/mqtt/diagnose.ts';

it('the list of the checks stands in the order of the report', () => {
  expect(Object.keys(CHECK_LIST)).toEqual(CHECKS);
});

it('each check has a folder of its name', () => {
  const folders = readdirSync(new URL('../../../src/device/doctor/checks', import.meta.url));
  expect(folders.toSorted()).toEqual(CHECKS.toSorted());
});
