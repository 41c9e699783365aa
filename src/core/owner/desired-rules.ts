import * as z from 'zod';
import {
  type Config,
  configSchema,
  DESIRED_KEYS,
  desiredSchema,
  type LaneConfig,
} from '../../protocol/config.ts';
import { twoWayClash } from '../../protocol/config-desk.ts';
import { isObject } from '../../protocol/json.ts';
import { languageClash } from '../../protocol/language.ts';
import type { DesiredFault, EffectiveConfig } from '../../protocol/mqtt/desired.ts';
import { timestampSchema } from '../../protocol/mqtt/envelope.ts';
import { plainIssue } from '../../protocol/plain-issues.ts';

/** One published document of `config/desired`. */
export interface DesiredDocument {
  /** `device`, or `group:lobby`. */
  readonly from: string;
  readonly version: number;
  /** The whole body as JSON. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** The device's own configuration with the documents applied. */
export interface Resolved {
  readonly config: Config;
  /** Refused keys with reasons. */
  readonly errors: readonly DesiredFault[];
}

/** Most faults reported: more would not be read. */
const MOST_ERRORS = 50;

/**
 * Applies the documents to the device's own configuration; later ones win. Each key is accepted or refused by itself:
 * a wrong key does not affect the others.
 */
export function resolveDesired(base: Config, documents: readonly DesiredDocument[]): Resolved {
  const errors: DesiredFault[] = [];
  let config = base;
  for (const document of documents) config = applyDocument(config, document, errors);
  return { config, errors: errors.slice(0, MOST_ERRORS) };
}

/**
 * The document whose value of one of these lane keys is in force: the last one that names it and was not refused.
 * @returns null: none; the device's own configuration is in force
 */
export function findNamer(
  { lanes }: Config,
  documents: readonly DesiredDocument[],
  errors: readonly DesiredFault[],
  lane: string,
  keys: readonly string[],
): { readonly from: string; readonly key: string } | null {
  for (const { from, body } of documents.toReversed()) {
    const entries = Array.isArray(body['lanes']) ? body['lanes'] : [];
    const named = entries.flatMap((entry: unknown, index) => {
      if (!isObject(entry) || (entry['id'] ?? lanes[index]?.id) !== lane) return [];
      if (errors.some((error) => error.from === from && error.key === `lanes[${index}]`)) return [];
      return keys.filter((key) => key in entry).map((key) => `lanes[${index}].${key}`);
    });
    const key = named.findLast((one) => !errors.some((error) => error.from === from && error.key === one));
    if (key !== undefined) return { from, key };
  }
  return null;
}

/** Keys about the message, not the device: for a signed document, its addressee. */
const ENVELOPE_KEYS = ['ts', 'version', 'device', 'iat'];
/** The configuration has a `device` too, which cannot be set over MQTT. */
const isOfEnvelope = (key: string, value: unknown): boolean =>
  ENVELOPE_KEYS.includes(key) && !(key === 'device' && isObject(value));
const versionSchema = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

/** Reads the frame of a document. @returns the fault in words if it is none */
export function readDocument(from: string, body: unknown): DesiredDocument | string {
  if (!isObject(body)) return 'must be an object { ... }';
  const { version, ts } = body;
  if (!versionSchema.safeParse(version).success) return 'version: must be a whole number, 0 or more';
  if (ts !== undefined && !timestampSchema.safeParse(ts).success)
    return 'ts: must be a time in ISO 8601, or null';
  return { from, version: version as number, body };
}

function applyDocument(config: Config, { from, body }: DesiredDocument, errors: DesiredFault[]): Config {
  const refuse = (key: string, message: string): void => void errors.push({ from, key, message });
  let next = config;
  for (const [key, value] of Object.entries(body)) {
    if (isOfEnvelope(key, value)) continue;
    if (key === 'lanes') next = applyLanes(next, value, refuse);
    else if (key === 'log') next = { ...next, log: applyPart('log', next.log, value, refuse) };
    else if (key === 'budget') next = { ...next, budget: applyPart('budget', next.budget, value, refuse) };
    else if (key === 'schedule') next = { ...next, schedule: applySchedule(next.schedule, value, refuse) };
    else refuse(key, notDesirable(['lanes', 'schedule', 'budget', 'log']));
  }
  return next;
}

type Refuse = (key: string, message: string) => void;
const notDesirable = (allowed: readonly string[]): string =>
  `cannot be set over MQTT; allowed here: ${allowed.join(', ')}`;

/** An object whose keys count separately. */
function applyPart<P extends 'log' | 'budget'>(
  part: P,
  before: Config[P],
  value: unknown,
  refuse: Refuse,
): Config[P] {
  if (!isObject(value)) {
    refuse(part, 'must be an object { ... }');
    return before;
  }
  const { shape } = desiredSchema.shape[part].unwrap();
  return { ...before, ...takeKeys(value, shape, DESIRED_KEYS[part], part, refuse) };
}

/** Half of a schedule would be another schedule: it is accepted or refused as a whole. */
function applySchedule(before: Config['schedule'], value: unknown, refuse: Refuse): Config['schedule'] {
  const parsed = configSchema.shape.schedule.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = (issue?.path ?? []).map((step) =>
    typeof step === 'number' ? `[${step}]` : `.${String(step)}`,
  );
  refuse(`schedule${path.join('')}`, wordIssue(issue && { ...issue, path: [] }));
  return before;
}

function applyLanes(config: Config, value: unknown, refuse: Refuse): Config {
  if (!Array.isArray(value)) {
    refuse('lanes', 'must be a list [ ... ]');
    return config;
  }
  if (value.length > config.lanes.length * 4 + 16) {
    refuse('lanes', `holds ${value.length} entries; this device has ${config.lanes.length} lanes`);
    return config;
  }
  const lanes = [...config.lanes];
  /** By lane: the place that named it. */
  const named = new Map<string, number>();
  for (const [index, entry] of value.entries()) {
    const path = `lanes[${index}]`;
    if (!isObject(entry)) {
      refuse(path, 'must be an object { ... }');
      continue;
    }
    const { id, ...given } = entry;
    const at = id === undefined ? index : lanes.findIndex((lane) => lane.id === id);
    const lane = lanes[at];
    if (lane === undefined) {
      refuse(path, `this device has no such lane; it has ${lanes.map((one) => one.id).join(', ')}`);
      continue;
    }
    const before = named.get(lane.id);
    if (before === undefined) lanes[at] = applyLane(lane, given, path, refuse);
    else refuse(path, `must be unique: lanes[${before}] is about the same lane, ${lane.id}`);
    named.set(lane.id, before ?? index);
  }
  return { ...config, lanes };
}

function applyLane(
  lane: LaneConfig,
  given: Record<string, unknown>,
  path: string,
  refuse: Refuse,
): LaneConfig {
  const shape = desiredSchema.shape.lanes.unwrap().element.shape;
  const { volume, ...taken } = takeKeys(
    given,
    shape,
    DESIRED_KEYS.lanes,
    path,
    refuse,
  ) as Partial<LaneConfig> & {
    volume?: number;
  };
  const playback = volume === undefined ? lane.playback : { ...lane.playback, volume };
  const next = { ...lane, ...taken, playback };
  const clash =
    languageClash(next.source, next.targets) ??
    twoWayClash(next.twoWay, next.source, next.targets)?.message ??
    null;
  if (clash === null) return next;
  // Either of the two may be the mistake: both are refused.
  const { source: _, targets: __, ...others } = taken;
  refuse(`${path}.${taken.targets === undefined ? 'source' : 'targets'}`, `targets ${clash}`);
  return { ...lane, ...others, playback };
}

/** The allowed and valid keys; others are refused, each with its reason. */
function takeKeys(
  given: Record<string, unknown>,
  shape: Readonly<Record<string, z.ZodType>>,
  allowed: readonly string[],
  path: string,
  refuse: Refuse,
): Record<string, unknown> {
  const taken: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(given)) {
    const name = `${path}.${key}`;
    const schema = allowed.includes(key) ? shape[key] : undefined;
    if (schema === undefined) {
      refuse(name, notDesirable(allowed));
      continue;
    }
    // The schema lets keys be missing; a present one must have a value.
    const parsed = schema.safeParse(value);
    if (parsed.success && parsed.data !== undefined) taken[key] = parsed.data;
    else refuse(name, wordIssue(parsed.error?.issues[0]));
  }
  return taken;
}

function wordIssue(issue: z.core.$ZodIssue | undefined): string {
  if (issue === undefined) return 'must have a value';
  const inner = issue.path.length === 0 ? '' : `[${issue.path.join('.')}] `;
  switch (issue.code) {
    case 'invalid_type':
      return `${inner}must be ${article(issue.expected)}`;
    case 'invalid_value':
      return `${inner}must be one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}`;
    case 'too_small':
    case 'too_big':
      return inner + plainIssue(issue);
    default:
      return inner + issue.message;
  }
}

function article(type: string): string {
  const names: Readonly<Record<string, string>> = {
    string: 'a text',
    number: 'a number',
    array: 'a list',
    boolean: 'true or false',
    object: 'an object',
  };
  return names[type] ?? `of the type ${type}`;
}

/** The keys that may be desired, with their configured values; later commands are not in it. */
export function effectiveOf(config: Config): EffectiveConfig {
  const lanes = config.lanes.map(({ id, source, targets, voice, echo, start, standbyAfter, playback }) => ({
    ...{ id, source, targets: [...targets], voice, echo, start, standbyAfter },
    volume: playback.volume,
  }));
  const { schedule, budget, log } = config;
  const { minutesPerDay } = budget;
  return { lanes, schedule, budget: { minutesPerDay }, log: { level: log.level } };
}
