import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { RECOVERY } from '../../src/device/lane/session/recovery.ts';
import { DENIALS } from '../../src/protocol/mqtt/denials.ts';
import { EVENT_KINDS } from '../../src/protocol/mqtt/event.ts';
import { REASONS } from '../../src/protocol/mqtt/reasons.ts';
import { DEVICE_STATUSES } from '../../src/protocol/mqtt/statuses.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const page = (path: string): string => readFileSync(`${ROOT}${path}`, 'utf8');
const operate = page('docs/operate.md');

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
    for (const code of Object.keys(DENIALS)) expect(page('docs/backend.md')).toContain(`\n| \`${code}\` | `);
  });
});
