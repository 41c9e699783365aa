import { describe, expect, it } from 'vitest';
import { TEXTS as DE } from '../../src/page/console/texts/de.ts';
import { TEXTS as EN } from '../../src/page/console/texts/en.ts';
import { HEALTH_SERIES } from '../../src/protocol/console-device.ts';
import { FLEET_STATUSES } from '../../src/protocol/console-fleet.ts';
import { JOB_STATES } from '../../src/protocol/console-jobs.ts';
import { CONSOLE_ROLES } from '../../src/protocol/console-routes.ts';
import { VERDICTS } from '../../src/protocol/mqtt/diagnose.ts';
import { REASONS } from '../../src/protocol/mqtt/reasons.ts';
import { PHASE_NAMES } from '../../src/protocol/phases.ts';

const places = (text: string): string[] => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort();

describe("the console's texts", () => {
  it('have the same keys, forms and places in both languages', () => {
    expect(Object.keys(DE).sort()).toEqual(Object.keys(EN).sort());
    for (const [key, text] of Object.entries(EN)) {
      const other = DE[key as keyof typeof EN];
      expect(places(other), key).toEqual(places(text));
      expect(other.split('|').length, key).toBe(text.split('|').length);
      expect(other.trim(), key).not.toBe('');
    }
  });

  it('name everything that a device, a job or a person can be', () => {
    const missing = [
      ...FLEET_STATUSES.flatMap((status) => [`status_${status}`, `says_${status}`]),
      ...Object.keys(REASONS).flatMap((code) => [`reason_${code}`, `todo_${code}`]),
      ...PHASE_NAMES.map((phase) => `phase_${phase}`),
      ...JOB_STATES.map((state) => `outcome_${state}`),
      ...VERDICTS.map((verdict) => `verdict_${verdict}`),
      ...HEALTH_SERIES.map((name) => `health_${name}`),
      ...CONSOLE_ROLES.flatMap((role) => [`role_${role}`, `may_${role}`]),
    ].filter((key) => !Object.hasOwn(EN, key));
    expect(missing).toEqual([]);
  });
});
