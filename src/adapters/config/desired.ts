import { DESIRED_KEYS } from '../../protocol/config.ts';
import { suggest } from './keys.ts';
import { formatPath, isObject, type Layer, type Problem, type Source } from './layer.ts';
import { type Merged, UNNAMED_LANE } from './merge.ts';

const SOURCE: Source = { kind: 'desired', name: 'config/desired' };
/** `ts` is part of every payload over MQTT and no key of the configuration. */
const TOP_KEYS = ['ts', ...Object.keys(DESIRED_KEYS)];
const LANE_KEYS = ['id', ...DESIRED_KEYS.lanes];

/**
 * The layer that an operator's `config/desired` makes: the `*` keys of lanes that exist, nothing else.
 * Wrong values stay in it: the check of the whole words them as for any other layer.
 */
export function readDesired(desired: unknown, below: Merged): { layer: Layer | null; problems: Problem[] } {
  const problems: Problem[] = [];
  if (!isObject(desired)) {
    problems.push({ source: SOURCE, path: '', message: 'must be an object { ... }' });
    return { layer: null, problems };
  }
  const { ts: _, ...value } = keepKeys(desired, TOP_KEYS, [], problems);
  if (isObject(value['log'])) value['log'] = keepKeys(value['log'], DESIRED_KEYS.log, ['log'], problems);
  if (Array.isArray(value['lanes']))
    value['lanes'] = keepLanes(value['lanes'], lanesOf(below.value), problems);
  return { layer: { value, lanesBy: 'id', locate: () => SOURCE }, problems };
}

function keepKeys(
  value: Record<string, unknown>,
  allowed: readonly string[],
  path: readonly PropertyKey[],
  problems: Problem[],
): Record<string, unknown> {
  const kept = Object.entries(value).filter(([key]) => {
    if (allowed.includes(key)) return true;
    problems.push({ source: SOURCE, path: formatPath([...path, key]), message: notDesirable(key, allowed) });
    return false;
  });
  return Object.fromEntries(kept);
}

function notDesirable(key: string, allowed: readonly string[]): string {
  const near = suggest(key, allowed);
  return near === null
    ? `cannot be set over MQTT; allowed here: ${allowed.join(', ')}`
    : `is not a known key; did you mean "${near}"?`;
}

/** A lane that this device does not have leaves a gap, which merging skips. */
function keepLanes(lanes: readonly unknown[], known: readonly unknown[], problems: Problem[]): unknown[] {
  const ids: unknown[] = known.map((lane) => laneId(lane) ?? UNNAMED_LANE);
  return lanes.map((lane, index) => {
    const id = laneId(lane);
    if (id === undefined ? index >= known.length : !ids.includes(id)) {
      const message = `this device has no such lane; it has ${ids.join(', ')}`;
      problems.push({ source: SOURCE, path: formatPath(['lanes', index]), message });
      return undefined;
    }
    return isObject(lane) ? keepKeys(lane, LANE_KEYS, ['lanes', index], problems) : lane;
  });
}

function lanesOf(value: unknown): readonly unknown[] {
  return isObject(value) && Array.isArray(value['lanes']) ? value['lanes'] : [];
}

function laneId(lane: unknown): unknown {
  return isObject(lane) ? lane['id'] : undefined;
}
