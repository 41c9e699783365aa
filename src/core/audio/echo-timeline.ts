/**
 * Sound by the moment at which it is heard or captured: the last few seconds of it, silence where nothing was. Times
 * are monotonic milliseconds, places are samples since the clock's zero.
 */
export interface Timeline {
  readonly rateHz: number;
  /** The place behind the last sample that was written. */
  readonly end: number;
  /** The place at which the sound began that has gone on without a gap until `end`. */
  readonly unbrokenSince: number;
  /**
   * Writes sound whose first sample belongs to the moment `at`.
   * @param goesOn it follows what was written before it, even if `at` does not: a better estimate came in between
   */
  write(samples: Float32Array, at: number, goesOn?: boolean): void;
  /** Writes sound whose place is known. */
  put(samples: Float32Array, place: number): void;
  /** Takes back what would have sounded from this moment on. */
  cut(at: number): void;
  cutAt(place: number): void;
  /** What was written from this place on is heard this much later than thought; negative: earlier. */
  delay(place: number, by: number): void;
  /** Fills `target` with the sound from this place on; silence where nothing was written or what was written is forgotten. */
  read(from: number, target: Float32Array | Float64Array): void;
  placeOf(at: number): number;
}

/**
 * What continues within this much of its time is one sound. Times of writes are estimates; a sample more or less now and
 * then keeps up with a device's clock, where a jump of milliseconds would tear the sound apart.
 */
const CONTINUES_MS = 20;
/** No estimate of a moment is corrected by more than this. */
const CORRECTED_MS = 500;

/** @param seconds how much is kept, at least; sound may be written ahead of its time, but together not more than this */
export function createTimeline(rateHz: number, seconds: number): Timeline {
  const size = 2 ** Math.ceil(Math.log2(rateHz * seconds));
  const ring = new Float32Array(size);
  const tolerance = (CONTINUES_MS * rateHz) / 1000;
  const corrected = (CORRECTED_MS * rateHz) / 1000;
  let end = Number.NEGATIVE_INFINITY;
  let unbrokenSince = 0;
  /** What is written after a cut is another sound, however soon. */
  let isCut = false;

  const placeOf = (at: number): number => Math.round((at * rateHz) / 1000);
  const slotOf = (place: number): number => ((place % size) + size) % size;

  /** Where a write goes: right behind the last one, a sample off where it lags or leads, or somewhere else. */
  const placeFor = (wanted: number, goesOn: boolean): number => {
    const off = wanted - end;
    if (isCut || Math.abs(off) > (goesOn ? corrected : tolerance)) return wanted;
    return end + Math.sign(off) * Math.min(1, Math.abs(off));
  };

  /** Does something with the one or two stretches of the ring in which these places lie. */
  const visit = (from: number, until: number, act: (slot: number, from: number, until: number) => void) => {
    if (until <= from) return;
    const slot = slotOf(from);
    const first = Math.min(until, from + size - slot);
    act(slot, from, first);
    if (first < until) act(0, first, until);
  };
  const silence = (from: number, until: number): void =>
    visit(Math.max(from, until - size), until, (slot, first, last) =>
      ring.fill(0, slot, slot + last - first),
    );

  const put = (samples: Float32Array, start: number): void => {
    if (Math.abs(start - end) > 1) {
      unbrokenSince = start;
      silence(end, start);
    } else if (start > end) {
      ring.set(samples.subarray(0, 1), slotOf(end));
    }
    isCut = false;
    end = start + samples.length;
    visit(Math.max(start, end - size), end, (slot, first, last) =>
      ring.set(samples.subarray(first - start, last - start), slot),
    );
  };
  const cutAt = (place: number): void => {
    if (place >= end) return;
    const kept = Math.max(place, end - size);
    silence(kept, end);
    end = kept;
    isCut = true;
    unbrokenSince = Math.min(unbrokenSince, end);
  };

  return {
    rateHz,
    get end() {
      return end;
    },
    get unbrokenSince() {
      return unbrokenSince;
    },
    write(samples, at, goesOn = false) {
      if (samples.length === 0) return;
      put(samples, placeFor(placeOf(at), goesOn));
    },
    put(samples, place) {
      if (samples.length > 0) put(samples, place);
    },
    cut(at) {
      cutAt(placeOf(at));
    },
    cutAt,
    delay(place, by) {
      const from = Math.max(place, end - size);
      if (by === 0 || from >= end) return;
      const moved = new Float32Array(end - from);
      visit(from, end, (slot, first, last) =>
        moved.set(ring.subarray(slot, slot + last - first), first - from),
      );
      cutAt(from);
      put(moved, from + by);
    },
    read(from, target) {
      const known = Math.max(from, Math.min(from + target.length, end - size));
      const until = Math.max(known, Math.min(from + target.length, end));
      target.fill(0, 0, known - from);
      target.fill(0, until - from);
      visit(known, until, (slot, first, last) =>
        target.set(ring.subarray(slot, slot + last - first), first - from),
      );
    },
    placeOf,
  };
}
