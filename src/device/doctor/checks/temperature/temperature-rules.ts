import { type Outcome, ok, problem, skipped, warning } from '../../report/finding.ts';

const HOT_CELSIUS = 75;
const TOO_HOT_CELSIUS = 83;

/** @param celsius of the hottest sensor; null: no sensor */
export function judgeTemperature(celsius: number | null): Outcome {
  if (celsius === null) return skipped('this machine reports no temperature');
  const data = { celsius: Math.round(celsius * 10) / 10 };
  const fix = 'Give it air or a heat sink, and keep it out of the sun.';
  const found = `${Math.round(celsius)} degrees C`;
  if (celsius >= TOO_HOT_CELSIUS) return problem(`${found}: the processor slows down`, fix, data);
  if (celsius >= HOT_CELSIUS) return warning(`${found} is hot`, fix, data);
  return ok(found, data);
}
