import { BYTES_PER_SAMPLE, joinPcm, sampleCount } from '../pcm.ts';

/** Written sound that has not been heard, oldest first: the part given to the device, then the waiting part. */
export interface Pending {
  /** `from` and `end` are frames of the device. */
  readonly given: readonly { readonly pcm: Uint8Array; readonly from: number; readonly end: number }[];
  readonly waiting: readonly Uint8Array[];
  readonly waitingBytes: number;
}

export const NOTHING_PENDING: Pending = { given: [], waiting: [], waitingBytes: 0 };

export function append(pending: Pending, pcm: Uint8Array): Pending {
  if (pcm.byteLength === 0) return pending;
  return withWaiting(pending, [...pending.waiting, pcm], pending.waitingBytes + pcm.byteLength);
}

/** Puts sound before the waiting sound. */
export function putBefore(pending: Pending, pcm: Uint8Array): Pending {
  if (pcm.byteLength === 0) return pending;
  return withWaiting(pending, [pcm, ...pending.waiting], pending.waitingBytes + pcm.byteLength);
}

function withWaiting(pending: Pending, waiting: readonly Uint8Array[], waitingBytes: number): Pending {
  return { given: pending.given, waiting, waitingBytes };
}

/** Takes up to this many bytes from the waiting sound. */
export function take(pending: Pending, bytes: number): { pcm: Uint8Array; pending: Pending } {
  const { waiting } = pending;
  const wanted = Math.min(Math.max(0, bytes), pending.waitingBytes);
  const parts: Uint8Array[] = [];
  let missing = wanted;
  let used = 0;
  for (; missing > 0; used++) {
    const part = (waiting[used] as Uint8Array).subarray(0, missing);
    parts.push(part);
    missing -= part.byteLength;
  }
  const last = waiting[used - 1];
  const rest = last?.subarray(parts.at(-1)?.byteLength) ?? new Uint8Array(0);
  const left = [...(rest.byteLength > 0 ? [rest] : []), ...waiting.slice(used)];
  return { pcm: joinPcm(parts), pending: withWaiting(pending, left, pending.waitingBytes - wanted) };
}

/** Notes that the device was given this sound, as these frames. */
export function noteGiven(pending: Pending, pcm: Uint8Array, from: number, end: number): Pending {
  return { ...pending, given: [...pending.given, { pcm, from, end }] };
}

/** Forgets sound that has been heard, up to this frame. */
export function noteHeard(pending: Pending, frames: number): Pending {
  const [oldest] = pending.given;
  if (oldest === undefined || oldest.end > frames) return pending;
  return { ...pending, given: pending.given.filter(({ end }) => end > frames) };
}

/** After a device was lost: its sound after the first `frames` was not heard and waits again. */
export function takeBack({ given, waiting, waitingBytes }: Pending, frames: number): Pending {
  const unheard = given.flatMap(({ pcm, from, end }) => {
    if (end <= frames) return [];
    const part = frames <= from ? 0 : (frames - from) / (end - from);
    return [pcm.subarray(Math.floor(part * sampleCount(pcm)) * BYTES_PER_SAMPLE)];
  });
  const bytes = unheard.reduce((sum, { byteLength }) => sum + byteLength, 0);
  return { given: [], waiting: [...unheard, ...waiting], waitingBytes: waitingBytes + bytes };
}

/** Forgets all sound that was given to the device. */
export function forgetGiven(pending: Pending): Pending {
  return { ...pending, given: [] };
}
