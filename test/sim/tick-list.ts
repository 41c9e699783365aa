/**
 * One value for each piece of speech, by its number. Values are stored in pages without holes: V8 turns an array with large
 * holes, as long pauses leave them, into a dictionary, which is many times slower.
 */
export interface TickList<Value> {
  get(tick: number): Value;
  set(tick: number, value: Value): void;
}

const PAGE_BITS = 9;
const PAGE_TICKS = 2 ** PAGE_BITS;

/** @param none value of a piece that was never set */
export function createTickList<Value>(none: Value): TickList<Value> {
  const pages = new Map<number, Value[]>();
  let lastNumber = -1;
  let last: Value[] = [];
  /** Finds a page; keeps the last one, because most look-ups are near the one before. */
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
