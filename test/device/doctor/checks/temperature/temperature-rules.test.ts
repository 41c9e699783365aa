import { describe, expect, it } from 'vitest';
import { judgeTemperature } from '../../../../../src/device/doctor/checks/temperature/temperature-rules.ts';

describe('the temperature', () => {
  it.each([
    [null, 'skipped'],
    [48, 'ok'],
    [77, 'warning'],
    [85, 'problem'],
  ])('is judged: %s degrees is %s', (celsius, verdict) => {
    expect(judgeTemperature(celsius).verdict).toBe(verdict);
  });
});
