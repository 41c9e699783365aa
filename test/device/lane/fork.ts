import type { LaneHarness } from './lane-harness.ts';

/** Copies what can change; frozen data and sound are shared. */
function copy<T>(value: T, seen: Map<unknown, unknown>): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value) || ArrayBuffer.isView(value)) {
    return value;
  }
  const known = seen.get(value);
  if (known !== undefined) return known as T;
  if (value instanceof Map) {
    const map = new Map();
    seen.set(value, map);
    for (const [key, entry] of value) map.set(copy(key, seen), copy(entry, seen));
    return map as T;
  }
  if (value instanceof Set) return new Set(value) as T;
  const twin = Array.isArray(value) ? [] : Object.create(Object.getPrototypeOf(value));
  seen.set(value, twin);
  for (const [key, entry] of Object.entries(value)) twin[key] = copy(entry, seen);
  return twin;
}

/** An independent copy of the world. Planned events of the first (answers to pings) are not copied. */
export function fork(lane: LaneHarness): LaneHarness {
  const seen = new Map<unknown, unknown>([[lane.log, [...lane.log]]]);
  const twin = copy(lane, seen);
  twin.forgetPlans();
  return twin;
}
