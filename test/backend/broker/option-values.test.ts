import { InvalidArgumentError } from 'commander';
import { expect, it } from 'vitest';
import { days, seconds } from '../../../src/backend/broker/option-values.ts';

it('takes whole numbers from 1 to the limit, and no others', () => {
  expect([days('1'), days('7300'), seconds('1'), seconds('86400')]).toEqual([1, 7300, 1, 86_400]);
  for (const wrong of ['0', '7301', '-1', '1.5', '1e3', '0x10', ' 7', '']) {
    expect(() => days(wrong)).toThrow(InvalidArgumentError);
    expect(() => days(wrong)).toThrow('It must be a number from 1 to 7300.');
  }
  expect(() => seconds('86401')).toThrow('It must be a number from 1 to 86400.');
});
