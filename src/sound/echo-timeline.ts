/**
 * Stores the last few seconds of sound by the time at which it is heard or captured; gaps are silence. Times are
 * monotonic milliseconds, places are samples since the clock's zero.
 */
export interface Timeline {
  readonly rateHz: number;
  /** The place after the last written sample. */
  readonly end: number;
  /** Start of the sound that runs without a gap until `end`. */
  readonly unbrokenSince: number;
  /**
   * Writes sound whose first sample belongs to the time `at`.
   * @param goesOn true: it continues the sound before it, even if `at` differs because of a better estimate
   */
  write(samples: Float32Array, at: number, goesOn?: boolean): void;
  /** Writes sound whose place is known. */
  put(samples: Float32Array, place: number): void;
  /** Removes the sound from this time on: it was cancelled. */
  cut(at: number): void;
  cutAt(place: number): void;
  /** Moves the sound from this place on to a later time; earlier if negative. */
  delay(place: number, by: number): void;
  /** Fills `target` with the sound from this place on; silence for sound that was never written or is forgotten. */
  read(from: number, target: Float32Array | Float64Array): void;
  placeOf(at: number): number;
}

/**
 * Sound that starts within this time (ms) of the expected moment continues the sound before it. Write times are estimates:
 * adding or dropping a sample now and then follows the device's clock, while a jump of milliseconds would break the sound.
 */
const CONTINUES_MS = 20;
/** Largest correction of an estimated time (ms). */
const CORRECTED_MS = 500;

/** @param seconds of sound to keep, at least; sound written ahead of its time counts too */
export function createTimeline(rateHz: number, seconds: number): Timeline {
  const size = 2 ** Math.ceil(Math.log2(rateHz * seconds));
  const ring = new Float32Array(size);
  const tolerance = (CONTINUES_MS * rateHz) / 1000;
  const corrected = (CORRECTED_MS * rateHz) / 1000;
  let end = Number.NEGATIVE_INFINITY;
  let unbrokenSince = 0;
  /** Sound after a cut is a new sound, even if it follows closely. */
  let isCut = false;

  const placeOf = (at: number): number => Math.round((at * rateHz) / 1000);
  const slotOf = (place: number): number => ((place % size) + size) % size;

  /** Place of a write: right after the last one, one sample off if it lags or leads, or elsewhere. */
  const placeFor = (wanted: number, goesOn: boolean): number => {
    const off = wanted - end;
    if (isCut || Math.abs(off) > (goesOn ? corrected : tolerance)) return wanted;
    return end + Math.sign(off) * Math.min(1, Math.abs(off));
  };

  /** Calls `act` for the one or two stretches of the ring that hold these places. */
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
