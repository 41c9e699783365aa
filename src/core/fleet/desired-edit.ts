import { DESIRED_KEYS } from '../../protocol/config.ts';
import { isObject } from '../../protocol/json.ts';

/** The body of a `config/desired`, as JSON has it. */
export type DesiredBody = Readonly<Record<string, unknown>>;

/** One change: a lane's key (`main.targets`) or one of the log (`log.level`); without a value the key is taken out. */
export interface DesiredChange {
  readonly scope: string;
  readonly key: string;
  readonly value?: unknown;
}

/** A change that cannot be understood; the message is for the operator. */
export class ChangeError extends Error {}

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
  const known: readonly string[] = scope === 'log' ? DESIRED_KEYS.log : DESIRED_KEYS.lanes;
  if (scope === '' || !known.includes(key)) {
    throw new ChangeError(
      `"${name}" is no key that can be set; there are LANE.{${DESIRED_KEYS.lanes.join(', ')}} and log.level`,
    );
  }
  return isRemoval ? { scope, key } : { scope, key, value: readValue(key, text.slice(at + 1)) };
}

function readValue(key: string, text: string): unknown {
  if (key === 'targets') return text.split(',').map((part) => part.trim());
  if (key === 'voice' && (text === 'none' || text === 'null')) return null;
  if (key === 'standbyAfter' && text.trim() !== '') return Number.isNaN(Number(text)) ? text : Number(text);
  return text;
}

/** The document with the changes and the next version. Keys that nobody named stay as they were. */
export function applyChanges(
  before: DesiredBody,
  changes: readonly DesiredChange[],
  version: number,
): DesiredBody {
  const { device: _, iat: __, ts: ___, ...body } = before;
  let next: Record<string, unknown> = { ...body, version };
  for (const { scope, key, value } of changes) {
    next = scope === 'log' ? withLog(next, key, value) : withLane(next, scope, key, value);
  }
  return next;
}

function withLog(body: Record<string, unknown>, key: string, value: unknown): Record<string, unknown> {
  return { ...body, log: withKey(isObject(body['log']) ? body['log'] : {}, key, value) };
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

/** One key that is desired and not as desired. */
export interface DesiredDifference {
  readonly key: string;
  readonly desired: unknown;
  readonly effective: unknown;
}

/** Where what is in force is not what the document wants; lanes that are not in force count as well. */
export function differences(body: DesiredBody, effective: unknown): DesiredDifference[] {
  const inForce = isObject(effective) ? effective : {};
  const lanesInForce = Array.isArray(inForce['lanes']) ? inForce['lanes'].filter(isObject) : [];
  const lanes = Array.isArray(body['lanes']) ? body['lanes'].filter(isObject) : [];
  const found = lanes.flatMap((lane, index) => {
    const id = lane['id'];
    const other = id === undefined ? lanesInForce[index] : lanesInForce.find((one) => one['id'] === id);
    return compare(lane, other ?? {}, String(id ?? index));
  });
  const log = isObject(body['log'])
    ? compare(body['log'], isObject(inForce['log']) ? inForce['log'] : {}, 'log')
    : [];
  return [...found, ...log];
}

function compare(
  wanted: Record<string, unknown>,
  has: Record<string, unknown>,
  scope: string,
): DesiredDifference[] {
  return Object.entries(wanted).flatMap(([key, desired]) => {
    const effective = has[key];
    const isSame = JSON.stringify(desired) === JSON.stringify(effective);
    return key === 'id' || isSame ? [] : [{ key: `${scope}.${key}`, desired, effective }];
  });
}
