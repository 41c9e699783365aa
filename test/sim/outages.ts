/** Times in which each lane had no stream, and the speech lost with each outage. */
import { TICK_MS } from './sound.ts';

export interface Outages {
  turned(lane: string, now: number, streams: boolean): void;
  /** Assigns a lost piece of speech to the nearest outage. */
  lost(lane: string, at: number): Loss;
}

export interface Loss {
  /** When the outage began. */
  readonly from: number;
  /** Time between the outage and the speech (ms); 0: it was spoken during the outage. */
  readonly distanceMs: number;
  /** Speech lost with this outage so far (ms). */
  readonly lostMs: number;
  /** Length of the outage up to the speech (ms). */
  readonly lastedMs: number;
}

interface Outage {
  readonly from: number;
  /** End of the outage; infinite while it lasts. */
  until: number;
  lostMs: number;
}

/** Time for which outages are kept (ms): speech is judged sooner. */
const REMEMBERED_MS = 900_000;

export function createOutages(): Outages {
  const known = new Map<string, Outage[]>();
  const begin = (from: number): Outage => ({ from, until: Number.POSITIVE_INFINITY, lostMs: 0 });
  const of = (lane: string): Outage[] => {
    // A lane is without a stream until it first streams.
    const outages = known.get(lane) ?? [begin(0)];
    known.set(lane, outages);
    return outages;
  };
  const distance = ({ from, until }: Outage, at: number): number => Math.max(from - at, at - until, 0);
  return {
    turned(lane, now, streams) {
      const recent = of(lane).filter(({ until }) => until > now - REMEMBERED_MS);
      const last = recent.at(-1);
      if (!streams) recent.push(begin(now));
      else if (last !== undefined) last.until = Math.min(last.until, now);
      known.set(lane, recent);
    },
    lost(lane, at) {
      const nearest = of(lane).reduce<Outage | null>(
        (best, one) => (best === null || distance(one, at) < distance(best, at) ? one : best),
        null,
      );
      if (nearest === null)
        return { from: at, distanceMs: Number.POSITIVE_INFINITY, lostMs: TICK_MS, lastedMs: 0 };
      nearest.lostMs += TICK_MS;
      const lastedMs = Math.max(0, Math.min(nearest.until, at) - nearest.from);
      return { from: nearest.from, distanceMs: distance(nearest, at), lostMs: nearest.lostMs, lastedMs };
    },
  };
}
