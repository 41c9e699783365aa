import type { Clock } from '../../ports/clock.ts';
import type { FleetFacets } from '../../protocol/console-fleet.ts';
import type { StreamDiff, StreamSnapshot } from '../../protocol/console-stream.ts';
import type { Fleet } from './fleet.ts';

const FACETS_EACH_MS = 2000;

/** What every page shows of the whole fleet, whatever its view: the broker, the counts, the calls for staff, and the choices of the filters (facets). */
export class FleetSummary {
  private readonly fleet: Fleet;
  private readonly clock: Clock;
  private readonly isConnected: () => boolean;
  private broker: 'connected' | 'away' = 'away';
  private counts = '';
  private calls = '[]';
  /** Null: no page has asked for the facets. */
  private facets: { readonly value: FleetFacets; readonly text: string; readonly at: number } | null = null;
  private areFacetsOld = false;

  constructor(fleet: Fleet, clock: Clock, isConnected: () => boolean) {
    this.fleet = fleet;
    this.clock = clock;
    this.isConnected = isConnected;
  }

  /** The state at the last call of `changes`. */
  current(): Pick<StreamSnapshot, 'broker' | 'counts' | 'calls' | 'facets'> {
    return {
      broker: this.broker,
      counts: this.fleet.counts,
      calls: this.fleet.calls(),
      facets: this.facets?.value ?? this.readFacets(),
    };
  }

  /** Notes that rows have changed: the facets may be stale. */
  noteRows(): void {
    this.areFacetsOld = true;
  }

  /** Changes since the last call. */
  changes(): Pick<StreamDiff, 'broker' | 'counts' | 'calls' | 'facets'> {
    const broker = this.isConnected() ? 'connected' : 'away';
    const isOtherBroker = broker !== this.broker;
    this.broker = broker;
    const counts = JSON.stringify(this.fleet.counts);
    const isOtherCount = counts !== this.counts;
    this.counts = counts;
    const open = this.fleet.calls();
    const calls = JSON.stringify(open);
    const isOtherCall = calls !== this.calls;
    this.calls = calls;
    const facets = this.changedFacets();
    return {
      ...(isOtherBroker && { broker }),
      ...(isOtherCount && { counts: this.fleet.counts }),
      ...(isOtherCall && { calls: open }),
      ...(facets !== null && { facets }),
    };
  }

  /** Called when no page is open any more. */
  forgetFacets(): void {
    this.facets = null;
  }

  private changedFacets(): FleetFacets | null {
    const { facets } = this;
    if (!this.areFacetsOld || facets === null) return null;
    if (this.clock.now() - facets.at < FACETS_EACH_MS) return null;
    const value = this.readFacets();
    return this.facets?.text === facets.text ? null : value;
  }

  private readFacets(): FleetFacets {
    const value = this.fleet.facets();
    this.facets = { value, text: JSON.stringify(value), at: this.clock.now() };
    this.areFacetsOld = false;
    return value;
  }
}
