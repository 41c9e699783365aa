import * as z from 'zod';
import { isObject } from '../../protocol/common/json.ts';
import { languageClash } from '../../protocol/common/language.ts';
import {
  type Config,
  configSchema,
  DESIRED_KEYS,
  desiredSchema,
  type LaneConfig,
} from '../../protocol/config.ts';
import { roomEchoClash, twoWayClash } from '../../protocol/config-desk.ts';
import type { DesiredFault, EffectiveConfig } from '../../protocol/config-reported.ts';
import { timestampSchema } from '../../protocol/mqtt/envelope.ts';
import { wordIssue } from '../../protocol/plain-issues.ts';

/** One published document of `config/desired`. */
export interface DesiredDocument {
  /** `device`, or `group:lobby`. */
  readonly from: string;
  readonly version: number;
  /** The whole body as JSON. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Values in force from earlier documents of the same origin: they stay for each key that is refused in this document. */
  readonly kept?: DesiredKeep | undefined;
}

/** What is in force from one origin. */
export interface DesiredKeep {
  readonly lanes: readonly (Readonly<Record<string, unknown>> & { readonly id: string })[];
  readonly schedule?: unknown;
  readonly budget?: Readonly<Record<string, unknown>> | undefined;
  readonly help?: Readonly<Record<string, unknown>> | undefined;
  readonly update?: Readonly<Record<string, unknown>> | undefined;
  readonly log?: Readonly<Record<string, unknown>> | undefined;
  readonly screen?: Readonly<Record<string, unknown>> | undefined;
}

/** The device's own configuration with the documents applied. */
export interface Resolved {
  readonly config: Config;
  /** Refused keys with reasons. */
  readonly errors: readonly DesiredFault[];
  /**
   * What is in force from each origin: the accepted keys of its document and, for each refused key, the value from an earlier
   * document.
   */
  readonly inForce: ReadonlyMap<string, DesiredKeep>;
}

/** Maximum number of faults reported: more would not be read. */
const MOST_ERRORS = 50;

/**
 * Applies the documents to the device's own configuration; later ones win. Each key is accepted or refused by itself:
 * a wrong key does not affect the others, and leaves the value that was in force before.
 */
export function resolveDesired(base: Config, documents: readonly DesiredDocument[]): Resolved {
  const errors: DesiredFault[] = [];
  const inForce = new Map<string, DesiredKeep>();
  let config = base;
  for (const document of documents) {
    const good = readGood(config, document, errors);
    inForce.set(document.from, good);
    config = withGood(config, good);
  }
  return { config, errors: errors.slice(0, MOST_ERRORS), inForce };
}

/**
 * The document that sets one of these lane keys: the last one that names such a key and was not refused.
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

/** Keys of the message itself, which are not configuration; `device` is the addressee of a signed document. */
const ENVELOPE_KEYS = ['ts', 'version', 'device', 'iat'];
/** The configuration has a `device` too, which cannot be set over MQTT. */
const isOfEnvelope = (key: string, value: unknown): boolean =>
  ENVELOPE_KEYS.includes(key) && !(key === 'device' && isObject(value));
const versionSchema = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

/** Reads the envelope of a document. @returns a message if the document is invalid */
export function readDocument(from: string, body: unknown): DesiredDocument | string {
  if (!isObject(body)) return 'must be an object { ... }';
  const { version, ts } = body;
  if (!versionSchema.safeParse(version).success) return 'version: must be a whole number, 0 or more';
  if (ts !== undefined && !timestampSchema.safeParse(ts).success)
    return 'ts: must be a time in ISO 8601, or null';
  return { from, version: version as number, body };
}

const NOTHING: DesiredKeep = { lanes: [] };

/** What is then in force from the document's origin: its accepted keys and, for each refused key, the value from an earlier document. */
function readGood(
  config: Config,
  { from, body, kept = NOTHING }: DesiredDocument,
  errors: DesiredFault[],
): DesiredKeep {
  const refuse = (key: string, message: string): void => void errors.push({ from, key, message });
  let good = NOTHING;
  for (const [key, value] of Object.entries(body)) {
    if (isOfEnvelope(key, value)) continue;
    if (key === 'lanes') good = { ...good, lanes: readLanes(config, value, kept.lanes, refuse) };
    else if (key === 'log' || key === 'budget' || key === 'help' || key === 'update' || key === 'screen')
      good = { ...good, [key]: readPart(key, value, kept[key], refuse) };
    else if (key === 'schedule') good = { ...good, ...readSchedule(value, kept, refuse) };
    else refuse(key, notDesirable(['lanes', 'schedule', 'budget', 'help', 'update', 'log', 'screen']));
  }
  return good;
}

/** The configuration with the accepted keys. */
function withGood(config: Config, good: DesiredKeep): Config {
  const lanes = config.lanes.map((lane): LaneConfig => {
    const { volume, ...given } = (good.lanes.find(({ id }) => id === lane.id) ??
      {}) as Partial<LaneConfig> & {
      volume?: number;
    };
    return {
      ...lane,
      ...given,
      playback: volume === undefined ? lane.playback : { ...lane.playback, volume },
    };
  });
  const schedule = good.schedule === undefined ? config.schedule : (good.schedule as Config['schedule']);
  const [budget, help, update, log, screen] = [
    { ...config.budget, ...good.budget },
    { ...config.help, ...good.help },
    { ...config.update, ...good.update },
    { ...config.log, ...good.log },
    { ...config.screen, ...good.screen },
  ];
  return { ...config, lanes, schedule, budget, help, update, log, screen };
}

type Refuse = (key: string, message: string) => void;
const silently: Refuse = () => {};
const notDesirable = (allowed: readonly string[]): string =>
  `cannot be set over MQTT; allowed here: ${allowed.join(', ')}`;

/** Reads an object whose keys are accepted or refused separately. */
function readPart(
  part: 'log' | 'budget' | 'help' | 'update' | 'screen',
  value: unknown,
  kept: DesiredKeep['log'],
  refuse: Refuse,
): DesiredKeep['log'] {
  const { shape } = desiredSchema.shape[part].unwrap();
  if (isObject(value)) return takeKeys(value, shape, DESIRED_KEYS[part], part, refuse, kept);
  refuse(part, 'must be an object { ... }');
  return kept;
}

/** A schedule is accepted or refused as a whole: half of it would be another schedule. */
function readSchedule(value: unknown, kept: DesiredKeep, refuse: Refuse): Pick<DesiredKeep, 'schedule'> {
  const fault = scheduleFault(value);
  if (fault === null) return { schedule: configSchema.shape.schedule.parse(value) };
  refuse(`schedule${fault.path}`, fault.message);
  const { schedule } = kept;
  return schedule === undefined || scheduleFault(schedule) !== null ? {} : { schedule };
}

function scheduleFault(value: unknown): { readonly path: string; readonly message: string } | null {
  const parsed = configSchema.shape.schedule.safeParse(value);
  if (parsed.success) return null;
  const [issue] = parsed.error.issues;
  const path = (issue?.path ?? []).map((step) =>
    typeof step === 'number' ? `[${step}]` : `.${String(step)}`,
  );
  return { path: path.join(''), message: wordIssue(issue && { ...issue, path: [] }) };
}

function readLanes(
  { lanes, rooms }: Config,
  value: unknown,
  kept: DesiredKeep['lanes'],
  refuse: Refuse,
): DesiredKeep['lanes'] {
  if (!Array.isArray(value)) {
    refuse('lanes', 'must be a list [ ... ]');
    return kept;
  }
  if (value.length > lanes.length * 4 + 16) {
    refuse('lanes', `holds ${value.length} entries; this device has ${lanes.length} lanes`);
    return kept;
  }
  const good: DesiredKeep['lanes'][number][] = [];
  /** Index of the first entry for each lane. */
  const named = new Map<string, number>();
  let isClear = true;
  for (const [index, entry] of value.entries()) {
    const path = `lanes[${index}]`;
    if (!isObject(entry)) {
      refuse(path, 'must be an object { ... }');
      isClear = false;
      continue;
    }
    const { id, ...given } = entry;
    const lane = id === undefined ? lanes[index] : lanes.find((one) => one.id === id);
    if (lane === undefined) {
      refuse(path, `this device has no such lane; it has ${lanes.map((one) => one.id).join(', ')}`);
      continue;
    }
    const before = named.get(lane.id);
    const keptLane = kept.find((one) => one.id === lane.id);
    if (before === undefined) {
      const taken = readLane(lane, given, path, refuse, keptLane);
      good.push({ ...withProtection(rooms, lane, taken, path, refuse, keptLane), id: lane.id });
    } else refuse(path, `must be unique: lanes[${before}] is about the same lane, ${lane.id}`);
    named.set(lane.id, before ?? index);
  }
  // An unreadable entry may be for any lane that no other entry names: those lanes keep their values.
  return isClear ? good : [...good, ...kept.filter(({ id }) => !named.has(id))];
}

function readLane(
  lane: LaneConfig,
  given: Record<string, unknown>,
  path: string,
  refuse: Refuse,
  kept: Readonly<Record<string, unknown>> | undefined,
): Record<string, unknown> {
  const shape = desiredSchema.shape.lanes.unwrap().element.shape;
  const taken = takeKeys(given, shape, DESIRED_KEYS.lanes, path, refuse, kept);
  const clashOf = (keys: Record<string, unknown>): string | null => {
    const { source, targets, twoWay } = { ...lane, ...keys } as LaneConfig;
    return languageClash(source, targets) ?? twoWayClash(twoWay, source, targets)?.message ?? null;
  };
  const clash = clashOf(taken);
  if (clash === null) return taken;
  // Either of the two may be the mistake: both are refused.
  refuse(`${path}.${taken['targets'] === undefined ? 'source' : 'targets'}`, `targets ${clash}`);
  const { source: _, targets: __, ...others } = taken;
  const pair = takeKeys({ source: null, targets: null }, shape, DESIRED_KEYS.lanes, path, silently, kept);
  return clashOf(pair) === null ? { ...others, ...pair } : others;
}

/** A lane of a room keeps its echo protection. */
function withProtection(
  rooms: Config['rooms'],
  lane: LaneConfig,
  taken: Readonly<Record<string, unknown>>,
  path: string,
  refuse: Refuse,
  kept: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const { echo, ...others } = taken;
  const clash = roomEchoClash(rooms, { ...lane, ...taken });
  if (clash === null || echo === undefined) return taken;
  refuse(`${path}.echo`, clash);
  const { echo: before } = kept;
  return before === undefined || before === 'off' ? others : { ...others, echo: before };
}

/** The allowed and valid keys. Others are refused, each with its reason; a kept value stays. */
function takeKeys(
  given: Record<string, unknown>,
  shape: Readonly<Record<string, z.ZodType>>,
  allowed: readonly string[],
  path: string,
  refuse: Refuse,
  kept: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const taken: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(given)) {
    const name = `${path}.${key}`;
    const schema = allowed.includes(key) ? shape[key] : undefined;
    if (schema === undefined) {
      refuse(name, notDesirable(allowed));
      continue;
    }
    // The schema lets keys be missing; a key that is present must have a value.
    const parsed = schema.safeParse(value);
    if (parsed.success && parsed.data !== undefined) {
      taken[key] = parsed.data;
      continue;
    }
    refuse(name, wordIssue(parsed.error?.issues[0]));
    const before = schema.safeParse(kept[key]);
    if (before.success && before.data !== undefined) taken[key] = before.data;
  }
  return taken;
}

/** The keys that can be set over MQTT, with their configured values, without changes by later commands. */
export function effectiveOf(config: Config): EffectiveConfig {
  const lanes = config.lanes.map(({ id, source, targets, voice, echo, start, standbyAfter, playback }) => ({
    id,
    source,
    targets: [...targets],
    voice,
    echo,
    start,
    standbyAfter,
    volume: playback.volume,
  }));
  const { schedule, budget, help, update, log, screen } = config;
  const { minutesPerDay } = budget;
  return {
    lanes,
    schedule,
    budget: { minutesPerDay },
    help: { answerWithin: help.answerWithin },
    update: { window: update.window },
    log: { level: log.level },
    screen: { operator: screen.operator },
  };
}
