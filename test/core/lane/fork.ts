import type { LaneHarness } from './lane-harness.ts';

/** Copies what can change; what is frozen, and sound, is shared. */
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

/** A second world that stands where the first one stands. What was planned in the first (answers to pings) is not in it. */
export function fork(lane: LaneHarness): LaneHarness {
  const seen = new Map<unknown, unknown>([[lane.log, [...lane.log]]]);
  const twin = copy(lane, seen);
  twin.forgetPlans();
  return twin;
}
