import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { DENIAL_ADVICE } from '../../scripts/docs/fault-advice.ts';
import { LOG_LINES } from '../../scripts/docs/log-lines.ts';
import { CONSEQUENCES } from '../../src/backend/core/service-trouble.ts';
import { STATUS_REASONS } from '../../src/core/lane/status.ts';
import { configWarnings } from '../../src/core/owner/config-warnings.ts';
import { RECOVERY } from '../../src/core/retry/recovery.ts';
import { DEVICE_STATUSES } from '../../src/protocol/mqtt/device.ts';
import { EVENT_KINDS } from '../../src/protocol/mqtt/event.ts';
import { readTree } from '../tidy/source.ts';
import { type LogCall, logCalls } from './log-calls.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(`${ROOT}docs/operate.md`, 'utf8');
const sources = readTree(ROOT).filter(({ path }) => /^src\/.*\.ts$/.test(path));
const programs = sources.filter(({ path }) => /^src\/(agent|adapters|backend|cli|program)\//.test(path));

/** Functions that pass a sentence on to the log, and the files in which it is given to them. */
const PASSING = [
  { in: /^src\/backend\//, call: /\bcomplain\(/g },
  { in: /^src\/backend\/core\/config-warnings\.ts/, call: /\bwarnings\.push\(/g },
  { in: /^src\/agent\/owner\/command-dispatcher\.ts/, call: /\bignore\(/g },
  { in: /^src\/agent\/owner\/token-client\.ts/, call: /\bignored\(/g },
  { in: /^src\/agent\/owner\//, call: /\breadKept\(/g },
  { in: /^src\/agent\/lane\/step-log\.ts/, call: /\bline\(/g },
  { in: /^src\/adapters\/audio\/alsa\/capture-gain\.ts/, call: /(?<!\.)\bwarn\(/g },
];
/** Calls whose sentence is made elsewhere, and where it is looked at. */
const MADE_ELSEWHERE: Readonly<Record<string, string>> = {
  'src/agent/repeat-filter.ts sentence': 'passed on by logRepeated',
  'src/agent/guard/defects.ts sentence': 'passed on by the log that never throws',
  'src/agent/owner/command-dispatcher.ts sentence': 'passed on by ignore',
  'src/agent/owner/token-client.ts sentence': 'passed on by ignored',
  'src/adapters/audio/alsa/capture-gain.ts message': 'passed on by warn',
  'src/agent/owner/kept-state.ts lost': 'passed on by readKept',
  'src/backend/stderr-notes.ts sentence': 'passed on by complain',
  'src/backend/run-verb.ts sentence': 'the warnings about the configuration',
  'src/adapters/audio/child/supervisor.ts alternative': 'the device "…" does not take …; trying …',
  'src/adapters/audio/child/supervisor.ts fault.message': 'a fault: codes of cards',
  'src/agent/lane/step-log.ts message': 'a fault: codes of cards, and causes',
  'src/agent/owner/bus-problems.ts message': 'a fault: problems of the broker',
  'src/backend/request-intake.ts message': 'a fault: problems of the broker',
  'src/backend/service-jobs.ts error.message': 'a fault: of the service, told again by the code of "denied"',
};

const known = LOG_LINES.map(({ says }) => says);
/** `…` of the page may be any text. */
function patternOf(says: string): RegExp {
  const parts = says.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.+')}$`, 's');
}
const isListed = (sentence: string): boolean => known.some((says) => patternOf(says).test(sentence));
const calls = logCalls(programs, PASSING);
/** What the agent says of a configuration that leaves everything open. */
const openWarnings = configWarnings({
  mqtt: { url: 'mqtt://broker.example' },
  owner: { publicKeyFiles: [] },
  service: { hosts: [] },
} as unknown as Parameters<typeof configWarnings>[0]).map(
  ({ key, message, fix }) => `${key} ${message}. ${fix}`,
);
const keyOf = ({ path, from }: LogCall): string => `${path} ${from}`;

/** The codes of the denials that the backend makes, but for those that the service's trouble has. */
const denials = sources
  .filter(({ path }) => path.startsWith('src/backend/core/'))
  .flatMap(({ text }) => [...text.matchAll(/(?:\bcode: |\b(?:deny|limit)\(\s*)'(\w+)'/g)])
  .map(([, code = '']) => code);

describe('docs/operate.md', () => {
  it('tells what to do about each status, reason, cause and event', () => {
    for (const status of DEVICE_STATUSES)
      expect(page).toMatch(new RegExp(`\\| \`${status}\` \\| .+ \\| .+ \\|`));
    for (const code of Object.keys(STATUS_REASONS)) expect(page).toContain(`\n| \`${code}\` | `);
    for (const cause of Object.keys(RECOVERY)) expect(page).toContain(`\n| \`${cause}\` | `);
    for (const kind of EVENT_KINDS) expect(page).toContain(`\n| [\`${kind}\`](mqtt.md#${kind}) | `);
  });

  it('lists every line that the agent and the backend log', () => {
    expect(calls.length).toBeGreaterThan(100);
    const missing = calls.flatMap(({ path, sentences }) =>
      sentences
        .filter((sentence) => !/^[… .]*$/.test(sentence) && !isListed(sentence))
        .map((one) => [path, one]),
    );
    expect(missing).toEqual([]);
  });

  it('leaves no line out because its sentence is made elsewhere', () => {
    const elsewhere = calls.filter(({ sentences }) => sentences.length === 0).map(keyOf);
    expect(new Set(elsewhere)).toEqual(new Set(Object.keys(MADE_ELSEWHERE)));
  });

  it('lists what the agent says of a configuration that leaves something open', () => {
    expect(openWarnings).toHaveLength(3);
    expect(openWarnings.filter((sentence) => !isListed(sentence))).toEqual([]);
  });

  it('lists each code with which the backend denies', () => {
    const ofService = Object.values(CONSEQUENCES).map(({ code }) => code);
    expect(denials.length).toBeGreaterThan(8);
    const own = new Set(denials.filter((code) => !ofService.includes(code)));
    expect(new Set(Object.keys(DENIAL_ADVICE))).toEqual(own);
    for (const code of [...own, ...ofService]) expect(page).toContain(`\n| \`${code}\` | `);
  });

  it('lists no line that is not logged any more, and says who logs it', () => {
    const code = sources.map(({ text }) => text).join('\n');
    const inCode = (says: string): boolean =>
      Object.values(MADE_ELSEWHERE).includes(says) && says.split('…').every((part) => code.includes(part));
    const logged = [
      ...calls.flatMap(({ path, sentences }) =>
        sentences.map((sentence) => ({
          by: path.startsWith('src/backend/') ? 'backend' : 'agent',
          sentence,
        })),
      ),
      ...openWarnings.map((sentence) => ({ by: 'agent', sentence })),
    ];
    const wrong = LOG_LINES.filter(({ by, says }) => {
      const sayers = new Set(
        logged.filter(({ sentence }) => patternOf(says).test(sentence)).map((one) => one.by),
      );
      if (sayers.size === 0) return !inCode(says);
      return by === 'both' ? sayers.size !== 2 : !sayers.has(by);
    });
    expect(wrong).toEqual([]);
  });

  it('would miss a line that nobody has written down', () => {
    const found = (text: string) =>
      logCalls([{ path: 'src/a.ts', text }], []).map(({ from, sentences }) => [from, ...sentences]);
    const moon = 'the moon is in the way';
    expect(found(`log.warn({ a: { b: 1 } }, '${moon}');`)).toEqual([[`'${moon}'`, moon]]);
    expect(found(`logger.error({}, "${moon}");`)).toEqual([[`"${moon}"`, moon]]);
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a text with the code of a template in it
    expect(found('log.error(\n  {},\n  `lost ${n} of ${f({})}`,\n);')[0]?.[1]).toBe('lost … of …');
    expect(found(`const why = '${moon}'; log[level]({}, why);`)).toEqual([['why', moon]]);
    expect(found(`logRepeated(deps, { level: 'warn', fields: {}, sentence: '${moon}' });`)[0]?.[1]).toBe(
      moon,
    );
    expect(found("log.warn({}, is ? 'the sun' : 'the stars');")[0]?.slice(1)).toEqual([
      'the sun',
      'the stars',
    ]);
    expect(found('log.warn({}, fault.message);')).toEqual([['fault.message']]);
    expect(
      found(`log.debug({}, '${moon}'); logRepeated(deps, { level: 'debug', sentence: '${moon}' });`),
    ).toEqual([]);
    expect(isListed(moon)).toBe(false);
  });
});
