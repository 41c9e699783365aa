/**
 * One value for each piece of speech, by its number. Speech comes with long pauses between, and an array with holes of
 * a thousand places is a dictionary to V8, many times slower: here values lie in pages without holes.
 */
export interface TickList<Value> {
  get(tick: number): Value;
  set(tick: number, value: Value): void;
}

const PAGE_BITS = 9;
const PAGE_TICKS = 2 ** PAGE_BITS;

/** @param none of a piece that nothing was noted of */
export function createTickList<Value>(none: Value): TickList<Value> {
  const pages = new Map<number, Value[]>();
  let lastNumber = -1;
  let last: Value[] = [];
  /** Most questions are about what is near to what was asked before. */
  const pageAt = (tick: number): Value[] | undefined => {
    const number = tick >> PAGE_BITS;
    if (number === lastNumber) return last;
    const page = pages.get(number);
    if (page !== undefined) {
      lastNumber = number;
      last = page;
    }
    return page;
  };
  return {
    get(tick) {
      const page = pageAt(tick);
      return page === undefined ? none : (page[tick & (PAGE_TICKS - 1)] as Value);
    },
    set(tick, value) {
      let page = pageAt(tick);
      if (page === undefined) {
        page = new Array<Value>(PAGE_TICKS).fill(none);
        pages.set(tick >> PAGE_BITS, page);
      }
      page[tick & (PAGE_TICKS - 1)] = value;
    },
  };
}
