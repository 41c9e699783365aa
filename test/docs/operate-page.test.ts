import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { DENIAL_ADVICE } from '../../scripts/docs/fault-advice.ts';
import { CONSEQUENCES } from '../../src/backend/core/service-trouble.ts';
import { RECOVERY } from '../../src/core/retry/recovery.ts';
import { DEVICE_STATUSES } from '../../src/protocol/mqtt/device.ts';
import { EVENT_KINDS } from '../../src/protocol/mqtt/event.ts';
import { REASONS } from '../../src/protocol/mqtt/reasons.ts';
import { readTree } from '../tidy/source.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const page = (path: string): string => readFileSync(`${ROOT}${path}`, 'utf8');
const operate = page('docs/operate.md');

/** The codes of denials in the backend's core. */
const denials = readTree(ROOT)
  .filter(({ path }) => /^src\/backend\/core\/.*\.ts$/.test(path))
  .flatMap(({ text }) => [...text.matchAll(/(?:\bcode: |\b(?:deny|limit)\(\s*)'(\w+)'/g)])
  .map(([, code = '']) => code);

describe('docs/operate.md', () => {
  it('says what to do about each status, reason, cause and event', () => {
    for (const status of DEVICE_STATUSES)
      expect(operate).toMatch(new RegExp(`\\| \`${status}\` \\| .+ \\| .+ \\|`));
    for (const code of Object.keys(REASONS)) expect(operate).toContain(`\n| \`${code}\` | `);
    for (const cause of Object.keys(RECOVERY)) expect(operate).toContain(`\n| \`${cause}\` | `);
    for (const kind of EVENT_KINDS) expect(operate).toContain(`\n| [\`${kind}\`](mqtt.md#${kind}) | `);
  });

  it('has at most 350 lines', () => {
    expect(operate.trimEnd().split('\n').length).toBeLessThanOrEqual(350);
  });
});

describe('docs/backend.md', () => {
  it('lists each code with which the backend denies', () => {
    const ofService = Object.values(CONSEQUENCES).map(({ code }) => code);
    expect(denials.length).toBeGreaterThan(8);
    const own = new Set(denials.filter((code) => !ofService.includes(code)));
    expect(new Set(Object.keys(DENIAL_ADVICE))).toEqual(own);
    for (const code of [...own, ...ofService])
      expect(page('docs/backend.md')).toContain(`\n| \`${code}\` | `);
  });
});
