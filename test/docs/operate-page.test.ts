import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { LOG_LINES } from '../../scripts/docs/advice.ts';
import { STATUS_REASONS } from '../../src/core/lane/status.ts';
import { RECOVERY } from '../../src/core/retry/recovery.ts';
import { DEVICE_STATUSES } from '../../src/protocol/mqtt/device.ts';
import { EVENT_KINDS } from '../../src/protocol/mqtt/event.ts';
import { readTree } from '../tidy/source.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(`${ROOT}docs/operate.md`, 'utf8');

const TEXT = /(['`])((?:\\.|(?!\1).)*)\1/.source;
/** `log.warn({...}, 'sentence')`, and what goes to the log by way of something else. */
const LOGGED = [
  new RegExp(
    `\\blog\\??\\.(?:info|warn|error)\\(\\s*(?:\\{(?:[^{}]|\\{[^{}]*\\})*\\}|[\\w.]+),\\s*${TEXT}`,
    'gs',
  ),
  new RegExp(`level: '(?:info|warn|error)'[^;]{0,220}?sentence: ${TEXT}`, 'gs'),
  new RegExp(`\\bcomplain\\(\\s*[^,]+,[^'\`]*?${TEXT}`, 'gs'),
  new RegExp(`\\bignored?\\(\\s*'(?:warn|nameless)',[^'\`]*(?:'malformed', )?${TEXT}`, 'gs'),
  new RegExp(`\\bsentence =\\s*${TEXT}`, 'gs'),
];

/** Every sentence that the sources log, with `…` for what varies. */
function sentences(code: string): string[] {
  return LOGGED.flatMap((pattern) =>
    [...code.matchAll(pattern)].map(([, , text = '']) =>
      text.replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, '…'),
    ),
  );
}

const known = LOG_LINES.map(({ says }) => says);
const isListed = (sentence: string): boolean =>
  known.some((says) => sentence === says || (says.endsWith('…') && sentence.startsWith(says.slice(0, -1))));

describe('docs/operate.md', () => {
  it('tells what to do about each status, reason, cause and event', () => {
    for (const status of DEVICE_STATUSES)
      expect(page).toMatch(new RegExp(`\\| \`${status}\` \\| .+ \\| .+ \\|`));
    for (const code of Object.keys(STATUS_REASONS)) expect(page).toContain(`\n| \`${code}\` | `);
    for (const cause of Object.keys(RECOVERY)) expect(page).toContain(`\n| \`${cause}\` | `);
    for (const kind of EVENT_KINDS) expect(page).toContain(`\n| [\`${kind}\`](mqtt.md#${kind}) | `);
  });

  it('lists every line that the agent and the backend log', () => {
    const logged = readTree(ROOT)
      .filter(({ path }) => /^src\/(agent|adapters|backend)\/.*\.ts$/.test(path))
      .flatMap(({ path, text }) => sentences(text).map((sentence) => ({ path, sentence })));
    expect(logged.length).toBeGreaterThan(40);
    expect(logged.filter(({ sentence }) => !isListed(sentence))).toEqual([]);
  });

  it('lists no line that is not logged any more', () => {
    const code = readTree(ROOT)
      .map(({ path, text }) => (path.startsWith('src/') ? text : ''))
      .join('\n');
    const gone = known.filter((says) => {
      const parts = says.split('…').filter((part) => part.trim().length > 1);
      return parts.some((part) => !code.includes(part.trim()));
    });
    expect(gone).toEqual([]);
  });

  it('would miss a line that nobody has written down', () => {
    expect(sentences("log.warn({ a: { b: 1 } }, 'the moon is in the way');")).toEqual([
      'the moon is in the way',
    ]);
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a text with the code of a template in it
    expect(sentences('log.error(\n  {},\n  `lost ${n} of ${f({})}`,\n);')).toEqual(['lost … of …']);
    expect(isListed('the moon is in the way')).toBe(false);
  });
});
