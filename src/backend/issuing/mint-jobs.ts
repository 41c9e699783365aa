/** Carries out the issuer's effects that concern the store. No job rejects: a store that is down is a result, too. */

import type { Complain } from '../../machine/limited-warnings.ts';
import type { Log } from '../../ports/log.ts';
import type { Decide, Store } from '../../ports/store.ts';
import type { DeviceName } from '../config/owned-devices.ts';
import { complainOfStore } from '../store/store-complaint.ts';
import type { IssuerEffect, IssuerEvent } from './issue-event.ts';
import { claim } from './mint/claim.ts';
import { type Claimed, holds, release, removeSessions, settle } from './mint/settle.ts';
import type { ServiceJobs } from './service-jobs.ts';

export interface MintJobsParts {
  readonly store: Store;
  readonly service: ServiceJobs;
  readonly instance: string;
  readonly complain: Complain;
  readonly log: Log;
  readonly random: () => number;
}

type Effect<T extends IssuerEffect['type']> = Extract<IssuerEffect, { type: T }>;

export type MintJobs = ReturnType<typeof createMintJobs>;

export function createMintJobs({ store, service, instance, complain, log, random }: MintJobsParts) {
  const orNull = async <T>(work: Promise<T>): Promise<T | null> => {
    try {
      return await work;
    } catch (error) {
      complainOfStore(error, complain, log);
      return null;
    }
  };
  const change = <T>(who: DeviceName, decide: Decide<T>): Promise<T | null> =>
    orNull(store.change(inStore(who), decide));

  return {
    async claim({ job, who, wanted }: Effect<'claim'>): Promise<IssuerEvent> {
      const claimed = await orNull(store.changeCounted(inStore(who), claim(wanted)));
      return { type: 'claimed', job, claim: claimed, draw: random() };
    },
    async settle({ job, who, made, session }: Effect<'settle'>): Promise<IssuerEvent> {
      return { type: 'settled', job, session, kept: await change(who, settle(made)), draw: random() };
    },
    async release({ who, lane, request }: Effect<'release'>): Promise<void> {
      await change(who, release({ instance, lane, request }));
    },
    async end(effect: Effect<'end'>): Promise<IssuerEvent> {
      const { who, lane, request } = effect;
      const row: Claimed = { instance, lane, request };
      const holdsRow = async () => (await change(who, holds(row))) === true;
      const { event, gone } = await service.endSessions(effect, holdsRow);
      if (gone.length > 0) await change(who, removeSessions(gone));
      return event;
    },
    /** Sessions that could not be revoked count again. The device's next request retries. */
    async revoke({ who, ids }: Effect<'revoke'>): Promise<void> {
      const gone = await service.revoke(who, ids, 'revoked a replaced session');
      await change(
        who,
        removeSessions(
          gone,
          ids.filter((id) => !gone.includes(id)),
        ),
      );
    },
    /** If this fails, the reconciler tries again. */
    async discard({ who, id }: Effect<'discard'>): Promise<void> {
      const gone = await service.revoke(who, [id], 'revoked a session that another backend has replaced');
      if (gone.length > 0) await change(who, removeSessions(gone));
    },
  };
}

const inStore = ({ tenant, device }: DeviceName): string => `${tenant}/${device}`;
