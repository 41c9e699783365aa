import type { z } from 'zod';
import { type Config, configSchema } from '../../protocol/config.ts';
import { plainIssue } from '../../protocol/plain-issues.ts';
import { describeAllowed, driverOf, namesAt, nodeAt, suggest, suggestPlace } from './known-keys.ts';
import { formatPath, type Problem } from './layer.ts';
import type { Merged } from './merge.ts';
import { showValue } from './show-value.ts';

type Issue = z.core.$ZodIssue;
export type Checked = { ok: true; config: Config } | { ok: false; problems: Problem[] };

const LONGEST_KEY = 60;
/** Maximum number of problems that are put into words, which takes time; further ones are only counted. */
const MOST_PROBLEMS = 100;

/** Checks a merged configuration against the schema; problems name what was found, where, and what is allowed. */
export function checkMerged(merged: Merged): Checked {
  const result = configSchema.safeParse(merged.value ?? {});
  if (result.success) return { ok: true, config: result.data };
  const issues = result.error.issues;
  const misspelt = misspeltKeys(issues, merged.value);
  const faults = issues
    .filter(({ path }) => !misspelt.has(formatPath(path)) || valueAt(path, merged.value) !== undefined)
    .flatMap(faultsOf);
  const problems = faults.slice(0, MOST_PROBLEMS).map((fault) => explain(fault, merged));
  const more = faults.length - problems.length;
  if (more > 0) problems.push({ source: null, path: '', message: `... and ${more} more problems` });
  return { ok: false, problems };
}

/** One thing that is wrong; `key`: the unknown key, if that is the fault. */
interface Fault {
  readonly issue: Issue;
  readonly key?: string;
}

function faultsOf(issue: Issue): Fault[] {
  return issue.code === 'unrecognized_keys' ? issue.keys.map((key) => ({ issue, key })) : [{ issue }];
}

/** Keys that an unknown key beside them probably misspells. They are not also reported as missing. */
function misspeltKeys(issues: readonly Issue[], value: unknown): ReadonlySet<string> {
  const keys = issues.flatMap(({ path, ...issue }) => {
    if (issue.code !== 'unrecognized_keys') return [];
    const names = namesAt(path, value);
    return issue.keys.flatMap((key) => {
      const near = suggest(key, names);
      return near === null ? [] : [formatPath([...path, near])];
    });
  });
  return new Set(keys);
}

function explain({ issue, key }: Fault, merged: Merged): Problem {
  if (key === undefined) return problemAt(issue.path, merged, wrongValue(issue, merged));
  const message = unknownKey(key, issue.path, merged);
  const problem = problemAt([...issue.path, key], merged, message);
  return /did you mean|another driver/.test(message)
    ? problem
    : { ...problem, holder: formatPath(issue.path) };
}

function problemAt(path: readonly PropertyKey[], merged: Merged, message: string): Problem {
  const steps = path.map((step) => (typeof step === 'number' ? step : String(step)));
  return { source: merged.sources.nearest(steps), path: formatPath(path.map(shorten)), message };
}

/** Shortens a key, which in a file may have any length. */
function shorten(step: PropertyKey): PropertyKey {
  return typeof step === 'string' && step.length > LONGEST_KEY ? `${step.slice(0, LONGEST_KEY)}...` : step;
}

function unknownKey(key: string, path: readonly PropertyKey[], merged: Merged): string {
  const driver = driverOf(key, path, merged.value);
  if (driver !== null) return `is a key of another driver; it needs "driver": "${driver}"`;
  const names = namesAt(path, merged.value);
  const near = suggest(key, names) ?? suggestPlace(key);
  if (near !== null) return `is not a known key; did you mean "${near}"?`;
  return names.length === 0 ? 'is not a known key' : `is not a known key; allowed here: ${names.join(', ')}`;
}

function wrongValue(issue: Issue, merged: Merged): string {
  const found = valueAt(issue.path, merged.value);
  const node = nodeAt(issue.path, merged.value);
  const isDemand = issue.message.startsWith('must ');
  const isOwnWords = issue.code === 'custom' || (isDemand && issue.message !== plainIssue(issue));
  // The schema's own sentence already names what was found.
  if (found !== undefined && isOwnWords && !isDemand) return issue.message;
  const allowed = node === null ? null : describeAllowed(node);
  const must = isOwnWords || allowed === null ? issue.message : `must be ${allowed}`;
  if (found === undefined) {
    const purpose = node?.description === undefined ? '' : ` (${node.description})`;
    return `is missing: ${must}${purpose}`;
  }
  const shown = showValue(found, issue.path);
  const near = typeof found === 'string' ? suggest(found, (node?.enum ?? []).map(String)) : null;
  return `${shown === null ? '' : `is ${shown}; `}${must}${near === null ? '' : `; did you mean "${near}"?`}`;
}

function valueAt(path: readonly PropertyKey[], value: unknown): unknown {
  return path.reduce<unknown>(
    (holder, step) =>
      typeof holder === 'object' && holder !== null
        ? (holder as Record<PropertyKey, unknown>)[step]
        : undefined,
    value,
  );
}
