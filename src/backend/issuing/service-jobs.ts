/** Carries out the issuer's effects at the service, and returns the results as events. */
import type { Log } from '../../ports/log.ts';
import { type CreateSessionInput, sessionWithTokenSchema } from '../../protocol/service/session.ts';
import type { DeviceName } from '../config/owned-devices.ts';
import type { ServiceClient } from '../service/service-client.ts';
import { ServiceFailure } from '../service/service-failure.ts';
import type { Trouble, TroubleKind } from '../service/service-trouble.ts';
import type { IssuerEffect, IssuerEvent } from './issue-event.ts';
import { referenceOf } from './mint/policy.ts';
import { findUnused, isUnused, shortId, shownSession, wasUsed } from './session-upkeep.ts';

/** Failures that mean that a service supports no listing or deleting: the specification gives no paths for them. */
const UNSUPPORTED: ReadonlySet<TroubleKind> = new Set(['rejected', 'malformed']);

export interface ServiceJobsParts {
  readonly service: ServiceClient;
  readonly log: Log;
  readonly random: () => number;
}

export type ServiceJobs = ReturnType<typeof createServiceJobs>;

/** No job rejects: a failure becomes an event. */
export function createServiceJobs({ service, log, random }: ServiceJobsParts) {
  const explain = (error: unknown, fields: object): Trouble => {
    if (error instanceof ServiceFailure) {
      log.warn({ ...fields, status: error.status }, error.message);
      return error.trouble;
    }
    log.error({ ...fields, fault: error instanceof Error ? error.message : 'unknown' }, 'unexpected failure');
    return { kind: 'unavailable', detail: null, retryAfterS: null };
  };

  const create = async (job: number, input: CreateSessionInput): Promise<IssuerEvent> => {
    try {
      const session = await service.createSession(input);
      const shown = shownSession(session, input.max_session_duration_seconds);
      return { type: 'created', job, session: shown, draw: random() };
    } catch (error) {
      const trouble = explain(error, { reference: input.client_reference_id });
      return { type: 'failed', job, trouble, draw: random() };
    }
  };

  /** A session that cannot be deleted does no harm: its token was not sent to anyone, and its window ends soon. */
  const probe = async (job: number, input: CreateSessionInput): Promise<IssuerEvent> => {
    const event = await create(job, input);
    if (event.type !== 'created') return event;
    try {
      const deleted = await service.deleteSession(event.session.id);
      return { type: 'probed', job, deleted, draw: random() };
    } catch (error) {
      explain(error, { reference: input.client_reference_id });
      return { type: 'probed', job, deleted: false, draw: random() };
    }
  };

  /**
   * @param holds whether this backend still works on the request: if another one has taken it over, its new session is created
   * after this list was read, and is therefore not in the list
   */
  const endSessions = async (
    { job, who, lane, sessionId }: Extract<IssuerEffect, { type: 'end' }>,
    holds: () => Promise<boolean>,
  ): Promise<{ event: IssuerEvent; gone: readonly string[] }> => {
    const reference = referenceOf(who, lane);
    let ids: readonly string[] = [];
    try {
      const unusedSession = await findUnused(service, { reference, sessionId });
      if (unusedSession.length > 0 && (await holds())) {
        await Promise.all(unusedSession.map((id) => service.deleteSession(id)));
        ids = unusedSession;
        log.info({ reference, count: ids.length }, 'revoked an unused session');
      }
    } catch (error) {
      const trouble = explain(error, { reference });
      // A service that cannot list may still create a session. A service in trouble gets no second request.
      if (!UNSUPPORTED.has(trouble.kind))
        return { event: { type: 'failed', job, trouble, draw: random() }, gone: [] };
    }
    return { event: { type: 'ended', job, draw: random() }, gone: ids };
  };

  /** Reads an existing session. The store has no tokens; the service shows them to the owner. */
  const fetch = async (job: number, id: string): Promise<IssuerEvent> => {
    try {
      const found = await service.getSession(id);
      const parsed = sessionWithTokenSchema.safeParse(found);
      const isUsed = found !== null && wasUsed(found);
      const session = parsed.success && isUnused(parsed.data) ? shownSession(parsed.data, undefined) : null;
      return { type: 'fetched', job, session: isUsed ? 'used' : session, draw: random() };
    } catch (error) {
      const trouble = explain(error, { session: shortId(id) });
      return UNSUPPORTED.has(trouble.kind)
        ? { type: 'fetched', job, session: null, draw: random() }
        : { type: 'failed', job, trouble, draw: random() };
    }
  };

  /** The unused sessions of a lane; none if the service cannot list. @throws ServiceFailure */
  const unusedOf = async (reference: string): Promise<string[]> => {
    try {
      return await findUnused(service, { reference, sessionId: null });
    } catch (error) {
      if (error instanceof ServiceFailure && UNSUPPORTED.has(error.trouble.kind)) return [];
      throw error;
    }
  };

  /** Revokes sessions. One that no longer exists counts as revoked. @returns those that are gone */
  const revoke = async (who: DeviceName, ids: readonly string[], why: string): Promise<string[]> => {
    const device = `${who.tenant}/${who.device}`;
    const ended = async (id: string): Promise<string[]> => {
      try {
        if (await service.deleteSession(id)) log.info({ device, session: shortId(id) }, why);
        return [id];
      } catch (error) {
        return UNSUPPORTED.has(explain(error, { device }).kind) ? [id] : [];
      }
    };
    return (await Promise.all(ids.map(ended))).flat();
  };

  return { create, probe, endSessions, fetch, unusedOf, revoke };
}
