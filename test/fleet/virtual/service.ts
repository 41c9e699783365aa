/** The translation service in virtual time, as far as sessions and streams without sound need it. */
import type { ServiceClient } from '../../../src/backend/service/service-client.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import type { OpenStream, StreamListener } from '../../../src/ports/stream.ts';
import type { Session, SessionWithToken } from '../../../src/protocol/service/session.ts';
import { ready } from '../../service-events.ts';

/** An answer over HTTP, one over the stream, and the start of a task (ms). */
const HTTP_MS = [80, 400] as const;
const STREAM_MS = [20, 120] as const;
const TASK_MS = [500, 2000] as const;
const UPGRADES_MS = [150, 500] as const;

interface Made {
  readonly session: SessionWithToken;
  readonly connectBy: number;
  firstAt: number | null;
  isOpen: boolean;
}

export function createVirtualService(clock: Clock & { settle(): void }, random: () => number) {
  const byId = new Map<string, Made>();
  const byToken = new Map<string, Made>();
  const byReference = new Map<string, Set<string>>();
  const faults: string[] = [];
  let count = 0;
  let open = 0;
  let mostOpen = 0;
  let limits = 0;
  const between = ([least, most]: readonly [number, number]): number => least + random() * (most - least);
  const after = (ms: number, act: () => void): void => void clock.at(clock.now() + ms, act);
  /** Acts half-way, and answers at the end. */
  const http = <T>(act: () => T): Promise<T> =>
    new Promise((resolve) => {
      const ms = between(HTTP_MS) / 2;
      after(ms, () => {
        const result = act();
        after(ms, () => {
          resolve(result);
          clock.settle();
        });
      });
    });
  const iso = (ms: number): string => new Date(ms).toISOString();
  const shown = ({ session, firstAt, isOpen }: Made): Session => ({
    ...session,
    status: firstAt === null ? 'pending' : isOpen ? 'active' : 'ended',
    first_connected_at: firstAt === null ? null : iso(firstAt),
    active_stream_count: isOpen ? 1 : 0,
  });
  const remove = (id: string): boolean => {
    const made = byId.get(id);
    if (made === undefined) return false;
    if (made.isOpen) faults.push('a session in use was revoked');
    byId.delete(id);
    byToken.delete(made.session.token);
    byReference.get(made.session.client_reference_id ?? '')?.delete(id);
    return true;
  };

  const client = {
    createSession: (input) =>
      http(() => {
        count += 1;
        const reference = input.client_reference_id ?? '';
        const connectBy = clock.now() + (input.expires_in_seconds ?? 0) * 1000;
        const session: SessionWithToken = {
          id: `session-${count}`,
          token: `token-of-session-${count}`,
          intent: 's2s',
          connection_type: 'ws',
          single_use: true,
          client_reference_id: reference,
          status: 'pending',
          created_at: iso(clock.now()),
          connect_by: iso(connectBy),
          first_connected_at: null,
          active_stream_count: 0,
          max_session_duration_seconds: input.max_session_duration_seconds,
        };
        const made: Made = { session, connectBy, firstAt: null, isOpen: false };
        byId.set(session.id, made);
        byToken.set(session.token, made);
        byReference.set(reference, (byReference.get(reference) ?? new Set()).add(session.id));
        return session;
      }),
    getSession: (id) =>
      http(() => {
        const made = byId.get(id);
        return made === undefined ? null : shown(made);
      }),
    listSessions: (filter) =>
      http(() =>
        [...(byReference.get(filter?.clientReferenceId ?? '') ?? [])].flatMap((id) => {
          const made = byId.get(id);
          return made === undefined ? [] : [shown(made)];
        }),
      ),
    deleteSession: (id) => http(() => remove(id)),
  } as Partial<ServiceClient> as ServiceClient;

  const openStream: OpenStream = ({ token }, listener: StreamListener) => {
    const made = byToken.get(token);
    let isOver = false;
    let isOpen = false;
    let runsAt = Number.POSITIVE_INFINITY;
    const say = (act: () => void): void =>
      after(between(STREAM_MS), () => {
        if (!isOver) act();
      });
    const close = (): void => {
      isOver = true;
      if (!isOpen || made === undefined) return;
      isOpen = false;
      made.isOpen = false;
      open -= 1;
    };
    after(between(UPGRADES_MS), () => {
      if (isOver) return;
      if (made === undefined || made.firstAt !== null || clock.now() > made.connectBy) {
        isOver = true;
        const why = made === undefined ? 'unknown' : made.firstAt !== null ? 'used before' : 'late';
        faults.push(`a stream with a token that is ${why}`);
        const reason = 'connect_window_expired' as const;
        const none = { errorCode: null, detail: null, retryAfterMs: null };
        return listener.said({ type: 'refused', reason, status: 401, ...none });
      }
      made.firstAt = clock.now();
      made.isOpen = true;
      isOpen = true;
      open += 1;
      mostOpen = Math.max(mostOpen, open);
      listener.opened();
      const maxS = made.session.max_session_duration_seconds;
      if (maxS !== undefined && maxS !== null)
        after(maxS * 1000, () => {
          if (isOver) return;
          limits += 1;
          listener.said({ type: 'limit', reason: 'max_duration' });
          close();
          listener.said({ type: 'ended', how: 'closed', reason: 'max_duration_reached', detail: '' });
        });
    });
    return {
      runTask() {
        runsAt = Math.min(runsAt, clock.now() + between(TASK_MS));
      },
      askForTask: () => say(() => listener.said(ready(clock.now() >= runsAt ? 'running' : 'none'))),
      sendAudio() {},
      say() {},
      end: () =>
        say(() => {
          listener.said({ type: 'ended', how: 'complete', reason: null, detail: '' });
          say(() => {
            close();
            listener.said({ type: 'ended', how: 'closed', reason: null, detail: '' });
          });
        }),
      ping: () => say(() => listener.pong()),
      close,
      terminate: close,
      bufferedBytes: 0,
    };
  };
  return {
    client,
    openStream,
    faults,
    get sessions() {
      return count;
    },
    get open() {
      return open;
    },
    /** Streams that ran until their limit. */
    get limits() {
      return limits;
    },
    get mostOpen() {
      return mostOpen;
    },
    /** Sessions that wait for their stream or have lost their chance. */
    unused: () => [...byId.values()].filter(({ firstAt }) => firstAt === null).length,
  };
}
