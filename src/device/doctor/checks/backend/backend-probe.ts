import type { Bus } from '../../../../ports/bus.ts';
import type { Clock } from '../../../../ports/clock.ts';
import { textAt } from '../../../../protocol/common/json.ts';
import type { WallMs } from '../../../../protocol/common/time.ts';
import { timestamp } from '../../../../protocol/mqtt/envelope.ts';
import {
  type TokenRequest,
  type TokenResponse,
  tokenProbeAnswerSchema,
  tokenResponseSchema,
} from '../../../../protocol/mqtt/token.ts';
import type { DeviceTopics } from '../../../../protocol/mqtt/topics.ts';
import type { ClockReading } from '../clock/clock-rules.ts';
import type { BackendAnswer } from './backend-rules.ts';

/** The result of a trial request, without a token. */
export interface Probed {
  readonly answer: BackendAnswer;
  readonly tookMs: number;
  /** The address pattern of streams; null if the answer had none. */
  readonly streamUrl: string | null;
  /** A reading of the backend's clock; null if the answer had no time. */
  readonly sight: ClockReading | null;
}

/** Requests a token from the backend as a test, and does not use it. */
export interface BackendProbe {
  /** @param hasRefused whether the broker has refused one of our messages */
  ask(bus: Bus, lane: string, hasRefused?: () => boolean): Promise<Probed>;
  /** Ids of the trial requests that wait for an answer. */
  readonly pending: readonly string[];
  /** Handles an answer; true if it belongs to any trial. */
  receive(body: unknown): boolean;
  /** An answer was refused. @param why the reason, as the end of a sentence */
  refused(why: string): void;
}

/** Timeout of the answer (s): longer than the backend waits for the service. */
export const ANSWER_WITHIN_S = 12;
const LOOK_EACH_MS = 500;

type Read = Pick<Probed, 'answer' | 'streamUrl'> & { readonly ts: string | null };

/**
 * @param newId names a request; must be unique
 * @param hide removes secrets from the backend's error texts
 */
export function createBackendProbe(
  topics: DeviceTopics,
  clock: Clock,
  newId: () => string,
  hide = (text: string): string => text,
): BackendProbe {
  const waiting = new Map<string, (read: Read) => void>();
  let lastRefused: string | null = null;
  const silence = (): BackendAnswer =>
    lastRefused === null
      ? { kind: 'silent', waitedS: ANSWER_WITHIN_S }
      : { kind: 'refused', why: lastRefused };
  return {
    ask(bus, lane, hasRefused = () => false) {
      const id = newId();
      const startedAt = clock.now();
      lastRefused = null;
      return new Promise((resolve) => {
        const settle = ({ answer, streamUrl, ts }: Read): void => {
          cancel();
          waiting.delete(id);
          const tookMs = clock.now() - startedAt;
          resolve({ answer, streamUrl, tookMs, sight: sightOf(ts, clock.wall(), tookMs) });
        };
        const fail = (answer: BackendAnswer): void => settle({ answer, streamUrl: null, ts: null });
        let cancel = (): void => {};
        const look = (): void => {
          const waitedS = (clock.now() - startedAt) / 1000;
          if (hasRefused()) fail({ kind: 'unasked' });
          else if (waitedS >= ANSWER_WITHIN_S) fail(silence());
          else cancel = clock.at(clock.now() + LOOK_EACH_MS, look);
        };
        waiting.set(id, settle);
        requestTrial(bus, topics, { ts: timestamp(clock.wall()), id, lane });
        look();
      });
    },
    get pending() {
      return [...waiting.keys()];
    },
    refused(why) {
      lastRefused = why;
    },
    receive(json) {
      const settle = waiting.get(textAt(json, 'id') ?? '');
      if (settle === undefined) return tokenProbeAnswerSchema.safeParse(json).success;
      settle(readAnswer(json, hide));
      return true;
    },
  };
}

function requestTrial(
  bus: Bus,
  topics: DeviceTopics,
  { ts, id, lane }: Pick<TokenRequest, 'ts' | 'id' | 'lane'>,
): void {
  const body: TokenRequest = {
    ts,
    id,
    lane,
    intent: 's2s',
    connection_type: 'ws',
    reason: 'start',
    attempt: 1,
    probe: true,
  };
  bus.publish(topics.tokenRequest, JSON.stringify(body), {
    qos: 1,
    properties: {
      responseTopic: topics.tokenResponse,
      correlationData: new TextEncoder().encode(id),
      expiryS: ANSWER_WITHIN_S,
    },
  });
}

/** Judges the answer. A token from a backend that does not support trials is dropped here. */
function readAnswer(json: unknown, hide: (text: string) => string): Read {
  const probed = tokenProbeAnswerSchema.safeParse(json);
  if (probed.success) {
    const { probe, stream_url, ts } = probed.data;
    return { answer: { kind: 'probed', session: probe.session }, streamUrl: stream_url, ts: ts ?? null };
  }
  const answer = tokenResponseSchema.safeParse(json);
  if (!answer.success) return { answer: { kind: 'malformed' }, streamUrl: null, ts: null };
  const ts = answer.data.ts ?? null;
  if (!answer.data.ok) {
    const { code, title, detail, final, retry_after_s } = answer.data.error;
    const reason = hide(detail === '' ? title : detail).slice(0, 200);
    return {
      answer: {
        kind: 'denied',
        code: hide(code).slice(0, 60),
        detail: reason,
        final,
        retryAfterS: retry_after_s ?? null,
      },
      streamUrl: null,
      ts,
    };
  }
  return { ...readGrant(answer.data), ts };
}

function readGrant(grant: Exclude<TokenResponse, { ok: false }>): Pick<Read, 'answer' | 'streamUrl'> {
  const { session } = grant;
  if ('ws_url' in session && typeof session.ws_url === 'string') {
    return { answer: { kind: 'granted', windowS: null }, streamUrl: session.ws_url };
  }
  const { connect_by, created_at } = session as { connect_by: string; created_at: string };
  const windowS = (Date.parse(connect_by) - Date.parse(created_at)) / 1000;
  const url = 'stream_url' in grant && typeof grant.stream_url === 'string' ? grant.stream_url : null;
  return { answer: { kind: 'granted', windowS: Number.isFinite(windowS) ? windowS : null }, streamUrl: url };
}

/** The backend's clock reading: taken between the request and the arrival of the answer. */
function sightOf(ts: string | null, wall: WallMs | null, tookMs: number): ClockReading | null {
  const theirs = ts === null ? Number.NaN : Date.parse(ts);
  if (wall === null || Number.isNaN(theirs)) return null;
  return { who: 'the backend', offsetMs: theirs - (wall - tookMs / 2), uncertaintyMs: tookMs / 2 };
}
