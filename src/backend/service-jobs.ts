/** Carries out the issuer's effects at the service, and returns the results as events. */
import type { Log } from '../ports/log.ts';
import type { CreateSessionInput } from '../protocol/service/session.ts';
import type { IssuerEffect, IssuerEvent } from './core/issue-event.ts';
import type { Trouble, TroubleKind } from './core/service-trouble.ts';
import type { ServiceClient } from './service-client.ts';
import { ServiceFailure } from './service-failure.ts';
import { endUnused, shortId, shownSession } from './session-upkeep.ts';

/** Failures that show that a service has no listing or deleting: the specification gives no paths for them. */
const UNSUPPORTED: ReadonlySet<TroubleKind> = new Set(['rejected', 'malformed']);

export interface ServiceJobsParts {
  readonly service: ServiceClient;
  readonly log: Log;
  readonly random: () => number;
}

/** No job rejects: a failure is an event, too. */
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

  /** A session that cannot be deleted does no harm: its token was not given out, and its window ends soon. */
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

  const endSessions = async (effect: Extract<IssuerEffect, { type: 'end' }>): Promise<IssuerEvent> => {
    let ids: readonly string[] = [];
    try {
      ids = await endUnused(service, effect);
      const fields = { reference: effect.reference, count: ids.length };
      if (ids.length > 0) log.info(fields, 'revoked an unused session');
    } catch (error) {
      const trouble = explain(error, { reference: effect.reference });
      // A service without listing may still make a session. A service in trouble gets no second request.
      if (!UNSUPPORTED.has(trouble.kind)) return { type: 'failed', job: effect.job, trouble, draw: random() };
    }
    return { type: 'ended', job: effect.job, ids, draw: random() };
  };

  /** A session that no longer exists counts as revoked. A failed revocation must not block the device's next session. */
  const revoke = async ({ who, ids }: Extract<IssuerEffect, { type: 'revoke' }>): Promise<IssuerEvent> => {
    const device = `${who.tenant}/${who.device}`;
    const ended = async (id: string): Promise<string[]> => {
      try {
        if (await service.deleteSession(id))
          log.info({ device, session: shortId(id) }, 'revoked a replaced session');
        return [id];
      } catch (error) {
        return UNSUPPORTED.has(explain(error, { device }).kind) ? [id] : [];
      }
    };
    const gone = await Promise.all(ids.map(ended));
    return { type: 'revoked', who, ids, gone: gone.flat() };
  };

  return { create, probe, endSessions, revoke };
}
