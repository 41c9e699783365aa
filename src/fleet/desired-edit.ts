import type * as z from 'zod';
import { canonicalJson } from '../core/canonical-json.ts';
import { isObject, parseJson } from '../protocol/common/json.ts';
import { configSchema, DESIRED_KEYS, DESIRED_WHOLE, desiredSchema } from '../protocol/config.ts';
import { nameSchema } from '../protocol/mqtt/topics.ts';
import { wordIssue } from '../protocol/plain-issues.ts';

/** Maximum nesting of a compared value, deeper than any of ours. */
const DEEPEST = 16;

/** The body of a `config/desired` as JSON. */
export type DesiredBody = Readonly<Record<string, unknown>>;

/**
 * One change: a lane's key (`main.targets`), one of `PARTS`, or `schedule` as a whole; without a value the key is
 * removed. A removal may name a whole lane, too.
 */
export interface DesiredChange {
  /** A lane, a part, or '' for a key of the document itself. */
  readonly scope: string;
  readonly key: string;
  readonly value?: unknown;
}

/** An unreadable change; the message is for the operator. */
export class ChangeError extends Error {}

/** Parts of the document that are objects; a lane cannot have these names. */
type Part = Exclude<keyof typeof DESIRED_KEYS, 'lanes'>;

const isPart = (scope: string): scope is Part => scope !== 'lanes' && Object.hasOwn(DESIRED_KEYS, scope);
const PARTS = Object.keys(DESIRED_KEYS).filter(isPart);
const isWhole = (key: string): boolean => DESIRED_WHOLE.some((whole) => whole === key);

const EXAMPLE = 'write LANE.KEY=VALUE, such as "main.targets=es,fr", or "log.level=debug"';

/**
 * Reads a change as an operator types it.
 * @param isRemoval only the key is given
 * @throws ChangeError
 */
export function readChange(text: string, isRemoval: boolean): DesiredChange {
  const at = text.indexOf('=');
  if (isRemoval !== at < 0) throw new ChangeError(`"${text}": ${isRemoval ? 'give the key alone' : EXAMPLE}`);
  const name = at < 0 ? text : text.slice(0, at);
  const dot = name.lastIndexOf('.');
  const scope = name.slice(0, Math.max(0, dot));
  const key = name.slice(dot + 1);
  // Every key of a document can be removed, known or not.
  if (isRemoval) return { scope, key };
  const keys: readonly string[] = isPart(scope) ? DESIRED_KEYS[scope] : DESIRED_KEYS.lanes;
  if (scope === '' ? !isWhole(key) : !keys.includes(key)) {
    const parts = PARTS.flatMap((part) => DESIRED_KEYS[part].map((one) => `${part}.${one}`));
    const others = [...DESIRED_WHOLE, ...parts].join(', ');
    throw new ChangeError(
      `"${name}" is not a key that can be set; the keys are LANE.{${DESIRED_KEYS.lanes.join(', ')}}, ${others}`,
    );
  }
  if (scope !== '' && !nameSchema.safeParse(scope).success)
    throw new ChangeError(`"${scope}" is not a lane name: a-z, 0-9 and "-", at most 64`);
  const value = readValue(key, text.slice(at + 1));
  const parsed = schemaOf(scope, key)?.safeParse(value);
  if (parsed?.error) throw new ChangeError(`${name}: ${wordIssue(parsed.error.issues[0])}`);
  return { scope, key, value };
}

/** The schema of a key's value. A device would refuse a bad value, too, but only after it is published. */
function schemaOf(scope: string, key: string): z.ZodType | undefined {
  if (scope === '') return configSchema.shape.schedule;
  const shape: Readonly<Record<string, z.ZodType>> = isPart(scope)
    ? desiredSchema.shape[scope].unwrap().shape
    : desiredSchema.shape.lanes.unwrap().element.shape;
  return shape[key];
}

const NULLABLE: readonly string[] = ['voice', 'schedule', 'minutesPerDay', 'answerWithin', 'window'];
const NUMBERS: readonly string[] = ['standbyAfter', 'minutesPerDay', 'volume', 'answerWithin'];
const OBJECTS: readonly string[] = ['schedule', 'window'];

/** @throws ChangeError */
function readJson(key: string, text: string): unknown {
  const value = parseJson(text);
  if (value !== undefined) return value;
  throw new ChangeError(`"${key}": its value must be JSON, in quotes for the shell, or "none"`);
}

function readValue(key: string, text: string): unknown {
  if (key === 'targets') return text.split(',').map((part) => part.trim());
  if (NULLABLE.includes(key) && (text === 'none' || text === 'null')) return null;
  if (OBJECTS.includes(key)) return readJson(key, text);
  if (NUMBERS.includes(key) && text.trim() !== '') return Number.isNaN(Number(text)) ? text : Number(text);
  return text;
}

/**
 * Highest reported version that counts; it admits times in microseconds, which owners may use as versions. Without this limit,
 * a device that reports the highest possible number would block all later documents of its group.
 */
const MOST_REPORTED = 8e15;

/** Higher than the present version (0: none) and all reported ones: devices reject lower versions. */
export function nextVersion(present: number, reported: readonly number[]): number {
  return Math.max(present, ...reported.filter((version) => version <= MOST_REPORTED)) + 1;
}

/** The document with the changes and the next version. Other keys stay as they were. */
export function applyChanges(
  before: DesiredBody,
  changes: readonly DesiredChange[],
  version: number,
): DesiredBody {
  const { device: _, iat: __, ts: ___, ...body } = before;
  let next: Record<string, unknown> = { ...body, version };
  for (const { scope, key, value } of changes) {
    if (value === undefined) next = without(next, scope, key);
    else if (scope === '') next = withKey(next, key, value);
    else next = isPart(scope) ? withPart(next, scope, key, value) : withLane(next, scope, key, value);
  }
  return next;
}

/** The document without the key, the lane, or the lane's key. An empty lane or part is removed, too: a device may not know it. */
function without(body: Record<string, unknown>, scope: string, key: string): Record<string, unknown> {
  if (key === 'version') return body;
  if (scope === '' && Object.hasOwn(body, key)) return withKey(body, key, undefined);
  if (scope === '') return withLanes(body, (lane) => (lane['id'] === key ? null : lane));
  const part = body[scope];
  if (isObject(part)) return withKey(body, scope, keep(withKey(part, key, undefined)));
  return withLanes(body, (lane) => (lane['id'] === scope ? keepLane(withKey(lane, key, undefined)) : lane));
}

const keep = <T extends object>(part: T): T | undefined =>
  Object.keys(part).length === 0 ? undefined : part;
const keepLane = (lane: Record<string, unknown>): Record<string, unknown> | null =>
  Object.keys(lane).some((key) => key !== 'id') ? lane : null;

function withLanes(
  body: Record<string, unknown>,
  change: (lane: Record<string, unknown>) => Record<string, unknown> | null,
): Record<string, unknown> {
  if (!Array.isArray(body['lanes'])) return body;
  const lanes = body['lanes'].flatMap((lane: unknown) => (isObject(lane) ? (change(lane) ?? []) : [lane]));
  return withKey(body, 'lanes', lanes.length === 0 ? undefined : lanes);
}

/** The first lane that a change names but no device has; null: none. */
export function missingLane(changes: readonly DesiredChange[], lanes: readonly string[]): string | null {
  const named = changes.find(
    ({ scope, value }) => value !== undefined && scope !== '' && !isPart(scope) && !lanes.includes(scope),
  );
  return named?.scope ?? null;
}

function withPart(
  body: Record<string, unknown>,
  part: Part,
  key: string,
  value: unknown,
): Record<string, unknown> {
  const before = body[part];
  return { ...body, [part]: withKey(isObject(before) ? before : {}, key, value) };
}

function withLane(
  body: Record<string, unknown>,
  id: string,
  key: string,
  value: unknown,
): Record<string, unknown> {
  const lanes = Array.isArray(body['lanes']) ? [...body['lanes']] : [];
  const at = lanes.findIndex((lane) => isObject(lane) && lane['id'] === id);
  const lane = withKey(at < 0 ? { id } : (lanes[at] as Record<string, unknown>), key, value);
  if (at < 0) lanes.push(lane);
  else lanes[at] = lane;
  return { ...body, lanes };
}

function withKey(given: Record<string, unknown>, key: string, value: unknown): Record<string, unknown> {
  const { [key]: _, ...rest } = given;
  return value === undefined ? rest : { ...rest, [key]: value };
}

/** A key whose value in force differs from the desired one. */
export interface DesiredDifference {
  readonly key: string;
  readonly desired: unknown;
  readonly effective: unknown;
}

/** The differences between the document and the configuration in force; missing lanes count too. */
export function differences(body: DesiredBody, effective: unknown): DesiredDifference[] {
  const inForce = isObject(effective) ? effective : {};
  const lanesInForce = Array.isArray(inForce['lanes']) ? inForce['lanes'].filter(isObject) : [];
  const lanes = Array.isArray(body['lanes']) ? body['lanes'].filter(isObject) : [];
  const laneDifferences = lanes.flatMap((lane, index) => {
    const id = lane['id'];
    const other = id === undefined ? lanesInForce[index] : lanesInForce.find((one) => one['id'] === id);
    return compare(lane, other ?? {}, String(id ?? index));
  });
  const parts = PARTS.flatMap((part) => {
    const [wanted, has] = [body[part], inForce[part]];
    return isObject(wanted) ? compare(wanted, isObject(has) ? has : {}, part) : [];
  });
  const wholes = DESIRED_WHOLE.flatMap((key) => {
    const [desired, effective] = [body[key], inForce[key]];
    return desired === undefined || isSame(desired, effective) ? [] : [{ key, desired, effective }];
  });
  return [...laneDifferences, ...wholes, ...parts];
}

/** The configuration in force contains defaults that the document omits. */
function isSame(desired: unknown, effective: unknown): boolean {
  const filled = isObject(desired) && isObject(effective) ? { ...effective, ...desired } : desired;
  return canonicalJson(filled, DEEPEST) === canonicalJson(effective, DEEPEST);
}

function compare(
  wanted: Record<string, unknown>,
  has: Record<string, unknown>,
  scope: string,
): DesiredDifference[] {
  return Object.entries(wanted).flatMap(([key, desired]) => {
    const effective = has[key];
    return key === 'id' || isSame(desired, effective) ? [] : [{ key: `${scope}.${key}`, desired, effective }];
  });
}
