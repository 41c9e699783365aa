/**
 * Keeps store and service consistent: extends the leases of this backend's own requests, and removes what a crashed backend has
 * left at the service.
 */

import type { Complain } from '../../machine/limited-warnings.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { LaneToCheck, SessionToRevoke, Store } from '../../ports/store.ts';
import { nameOf } from '../config/owned-devices.ts';
import { ServiceFailure } from '../service/service-failure.ts';
import { complainOfStore } from '../store/store-complaint.ts';
import { LEASE_MS } from './mint/claim.ts';
import { ORPHANS } from './mint/orphans.ts';
import { referenceOf } from './mint/policy.ts';
import { findUnknown, removeSessions } from './mint/settle.ts';
import type { ServiceJobs } from './service-jobs.ts';

const RENEW_EVERY_MS = LEASE_MS / 3;
const PRUNE_EVERY_MS = 600_000;

export interface ReconcilerParts {
  readonly store: Store;
  readonly service: ServiceJobs;
  readonly instance: string;
  /** Time until the service has surely ended a request of a crashed instance (ms). */
  readonly settledMs: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly complain: Complain;
  /** Whether this backend is working on requests. */
  readonly isMinting: () => boolean;
}

export interface Reconciler {
  close(): Promise<void>;
}

export function startReconciler(parts: ReconcilerParts): Reconciler {
  const { store, service, instance, settledMs, clock, log, complain } = parts;
  const { lookEveryMs, graceMs, againMs, mostAtOnce } = ORPHANS;

  /** Revokes a lane's orphaned sessions: created by an instance, but without a row in the store. */
  const check = async (lane: LaneToCheck): Promise<void> => {
    const who = nameOf(lane.device);
    const listed = await service.unusedOf(referenceOf(who, lane.lane));
    const unknown = await store.change(lane.device, findUnknown(lane, listed, settledMs));
    await service.revoke(who, unknown, 'revoked a session that a backend left when it died');
  };
  const revoke = async ({ device, id }: SessionToRevoke): Promise<void> => {
    const gone = await service.revoke(nameOf(device), [id], 'revoked a session that was left over');
    if (gone.length > 0) await store.change(device, removeSessions(gone));
  };
  const look = async (): Promise<void> => {
    await sideBySide(await store.takeAbandoned(graceMs, againMs, mostAtOnce), check);
    await sideBySide(await store.takeLeaving(againMs, mostAtOnce), revoke);
  };
  const renew = async (): Promise<void> => {
    if (parts.isMinting()) await store.renew(instance, LEASE_MS);
  };

  const repeat = (everyMs: number, work: () => Promise<void>, firstMs = everyMs) => {
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
      if (!isClosed) arm(everyMs);
    };
    const arm = (afterMs: number): void => {
      cancel = clock.at(clock.now() + afterMs, () => {
        running = run();
      });
    };
    arm(firstMs);
    return {
      async close() {
        isClosed = true;
        cancel();
        await running;
      },
    };
  };

  const loops = [
    repeat(RENEW_EVERY_MS, renew),
    repeat(lookEveryMs, look, 0),
    repeat(PRUNE_EVERY_MS, () => store.prune()),
  ];
  return {
    async close() {
      await Promise.all(loops.map((loop) => loop.close()));
    },
  };
}

/** A failure does not stop the other items. @throws the first failure, once all have ended */
async function sideBySide<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const results = await Promise.allSettled(items.map(work));
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}
