/**
 * Keeps store and service equal: extends the leases of this backend's own requests, and removes what a backend that died has
 * left at the service.
 */
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { LaneToCheck, Store } from '../ports/store.ts';
import { LEASE_MS } from './core/mint/claim.ts';
import { findUnknown, removeSessions } from './core/mint/settle.ts';
import { nameOf, referenceOf } from './core/policy.ts';
import type { Complain } from './limited-warnings.ts';
import { complainOfStore } from './mint-jobs.ts';
import type { ServiceClient } from './service-client.ts';
import { ServiceFailure } from './service-failure.ts';
import type { ServiceJobs } from './service-jobs.ts';
import { findUnused } from './session-upkeep.ts';

const RENEW_EVERY_MS = LEASE_MS / 3;
const LOOK_EVERY_MS = 4000;
const PRUNE_EVERY_MS = 600_000;
/** A device repeats its request within this time (ms), which is quicker than the reconciler. */
const GRACE_MS = 5000;
const AGAIN_MS = 10_000;
const MOST_AT_ONCE = 20;

export interface ReconcilerParts {
  readonly store: Store;
  readonly client: ServiceClient;
  readonly service: ServiceJobs;
  readonly instance: string;
  /** Time until the service has surely ended a request of an instance that died (ms). */
  readonly settledMs: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly complain: Complain;
  /** Whether this backend works on requests. */
  readonly isMinting: () => boolean;
}

export interface Reconciler {
  close(): Promise<void>;
}

export function startReconciler(parts: ReconcilerParts): Reconciler {
  const { store, client, service, instance, settledMs, clock, log, complain } = parts;
  const loops = [
    repeat(clock, RENEW_EVERY_MS, async () => {
      if (parts.isMinting()) await store.renew(instance, LEASE_MS);
    }),
    repeat(clock, LOOK_EVERY_MS, async () => {
      const abandoned = await store.takeAbandoned(GRACE_MS, AGAIN_MS, MOST_AT_ONCE);
      for (const lane of abandoned) await check(lane);
      for (const { device, id } of await store.takeLeaving(AGAIN_MS, MOST_AT_ONCE)) {
        const gone = await service.revoke(nameOf(device), [id], 'revoked a session that was left over');
        if (gone.length > 0) await store.change(device, removeSessions(gone));
      }
    }),
    repeat(clock, PRUNE_EVERY_MS, () => store.prune()),
  ];

  /** Revokes the sessions of a lane that an instance has made and not written down. */
  const check = async (lane: LaneToCheck): Promise<void> => {
    const who = nameOf(lane.device);
    const listed = await findUnused(client, { reference: referenceOf(who, lane.lane), sessionId: null });
    const unknown = await store.change(lane.device, findUnknown(lane, listed, settledMs));
    await service.revoke(who, unknown, 'revoked a session that a backend left when it died');
  };

  function repeat(timer: Clock, everyMs: number, work: () => Promise<void>) {
    let cancel = (): void => {};
    let isClosed = false;
    let running: Promise<void> = Promise.resolve();
    const run = async (): Promise<void> => {
      try {
        await work();
      } catch (error) {
        if (error instanceof ServiceFailure) log.debug({ status: error.status }, error.message);
        else complainOfStore(error, complain, log);
      }
      if (!isClosed) arm();
    };
    const arm = (): void => {
      cancel = timer.at(timer.now() + everyMs, () => {
        running = run();
      });
    };
    arm();
    return {
      async close() {
        isClosed = true;
        cancel();
        await running;
      },
    };
  }

  return {
    async close() {
      await Promise.all(loops.map((loop) => loop.close()));
    },
  };
}
