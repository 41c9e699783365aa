/**
 * One value for each piece of speech, by its number. Speech comes with long pauses between, and an array with holes of
 * a thousand places is a dictionary to V8, many times slower: here the holes are filled.
 */
export interface TickList<Value> {
  get(tick: number): Value;
  set(tick: number, value: Value): void;
}

/** @param none of a piece that nothing was noted of */
export function createTickList<Value>(none: Value): TickList<Value> {
  const values: Value[] = [];
  return {
    get: (tick) => (tick >= 0 && tick < values.length ? (values[tick] as Value) : none),
    set(tick, value) {
      while (values.length < tick) values.push(none);
      values[tick] = value;
    },
  };
}
