import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import {
  type Answer,
  expectData,
  type SessionObject,
  sessionShape,
  type TokenSession,
  type VoiceObject,
  voiceShape,
} from './shapes.ts';
import { connect, type Pace, parseJson, Stream, type UpgradeRefusal, WAIT_MS } from './stream.ts';
import type { Target } from './target.ts';

/** Paths below the HTTP base. The specification gives none in 4.2, so they follow the pattern of 4.1. */
export const PATHS = {
  sessions: '/session-storage/v2/sessions',
  session: (id: string) => `/session-storage/v2/sessions/${encodeURIComponent(id)}`,
  legacy: '/session-storage/session',
  clone: '/saas/voice/clone',
  voice: (id: string) => `/saas/voice/m/${encodeURIComponent(id)}`,
  stream: (hash: string) => `/streaming-api/${hash}/v1/speech-to-speech/stream`,
} as const;

/** Options of a request. `json` is sent as JSON, `body` unchanged. */
export interface RequestOptions {
  readonly credential?: string | null;
  readonly json?: unknown;
  readonly body?: string | FormData | Uint8Array<ArrayBuffer>;
  readonly headers?: Record<string, string>;
}

/** A refused connection in any delivery (7: not shown): at the upgrade, as a message, or as a close. */
export interface Refusal {
  readonly delivery: 'http' | 'message' | 'close';
  /** HTTP status of a refused upgrade. */
  readonly status: number | null;
  readonly upgrade: UpgradeRefusal | null;
  /** Text of the refusal: body, messages or close reason. */
  readonly said: string;
  /** Numeric error_code, if there is one. */
  readonly errorCode: number | null;
  readonly closeCode: number | null;
}

const REASONS = [
  'session_already_used',
  'max_duration_reached',
  'intent_mismatch',
  'connection_type_mismatch',
  'connect_window_expired',
  'session_limit_reached',
  'session_revoked',
] as const;

/** The reasons of section 7 that a refusal names. `pending_sessions_limit_reached` is not one of a connection. */
export function reasonsIn(said: string): string[] {
  const text = said.replaceAll('pending_sessions_limit_reached', '');
  return REASONS.filter((reason) => text.includes(reason));
}

/** A client of the service that keeps track of its streams and sessions. */
export class Client {
  readonly target: Target;
  readonly #pace: Pace;
  readonly #streams = new Set<Stream>();
  readonly #sessions = new Set<string>();

  constructor(target: Target, pace: Pace) {
    this.target = target;
    this.#pace = pace;
  }

  /** One HTTP request; `path` may be a whole URL. Without `credential` no Authorization is sent. */
  async request(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    const headers: Record<string, string> = { accept: 'application/json', ...options.headers };
    if (options.credential != null) headers['authorization'] = `Bearer ${options.credential}`;
    const init: RequestInit = { method, headers, redirect: 'manual', signal: AbortSignal.timeout(WAIT_MS) };
    if (options.json !== undefined) {
      headers['content-type'] ??= 'application/json';
      init.body = JSON.stringify(options.json);
    } else if (options.body !== undefined) {
      init.body = options.body;
    }
    const url = path.startsWith('http') ? path : this.target.base + path;
    const response = await fetch(url, init);
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: parseJson(text) };
  }

  /** A create request (4.1) with the API key, with any result. */
  async create(json: unknown, credential: string | null = this.target.apiKey): Promise<Answer> {
    const answer = await this.request('POST', PATHS.sessions, { credential, json });
    const created = sessionShape.safeParse((answer.json as { data?: unknown } | undefined)?.data);
    if (answer.status === 201 && created.success) this.#sessions.add(created.data.id);
    return answer;
  }

  /** Creates a session; fails if it is refused. */
  async created(json: Record<string, unknown> = {}): Promise<TokenSession> {
    const answer = await this.create({ intent: 's2s', ...json });
    const session = expectData(answer, 201, sessionShape, '4.1 create') as SessionObject;
    expect(session.token, '2.1 token on creation').toBeTypeOf('string');
    return session as TokenSession;
  }

  /** Get Session by ID (4.2). */
  async session(id: string): Promise<SessionObject> {
    const answer = await this.request('GET', PATHS.session(id), { credential: this.target.apiKey });
    return expectData(answer, 200, sessionShape, '4.2 get') as SessionObject;
  }

  /** Waits until a session satisfies `wanted`: counts may follow a socket's close by a moment. */
  async sessionWhen(id: string, wanted: (session: SessionObject) => boolean): Promise<SessionObject> {
    const deadline = performance.now() + 20_000;
    for (;;) {
      const session = await this.session(id);
      if (wanted(session) || performance.now() > deadline) return session;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** List Sessions (4.2). The envelope's inside is not specified: the sessions are the array in `data`. */
  async list(clientReferenceId?: string): Promise<SessionObject[]> {
    const query =
      clientReferenceId === undefined ? '' : `?client_reference_id=${encodeURIComponent(clientReferenceId)}`;
    const answer = await this.request('GET', PATHS.sessions + query, { credential: this.target.apiKey });
    expect(answer.status, `4.2 list: ${answer.text.slice(0, 300)}`).toBe(200);
    const data = (answer.json as { data?: unknown } | undefined)?.data;
    const listed = Array.isArray(data) ? data : Object.values(data ?? {}).find(Array.isArray);
    expect(listed, '4.2 list: an array of sessions in data').toBeInstanceOf(Array);
    return sessionShape.array().parse(listed);
  }

  /** Delete Session (4.2). */
  async revoke(id: string): Promise<Answer> {
    this.#sessions.delete(id);
    return this.request('DELETE', PATHS.session(id), { credential: this.target.apiKey });
  }

  /** Legacy creation (4.3) that must succeed; the names inside are not all specified. */
  async legacy(): Promise<{ ws_url: string; publisher: string }> {
    const answer = await this.request('POST', PATHS.legacy, {
      credential: this.target.apiKey,
      json: { data: {} },
    });
    expect([200, 201], `4.3 create: ${answer.text.slice(0, 300)}`).toContain(answer.status);
    return (answer.json as { data: { ws_url: string; publisher: string } }).data;
  }

  /** A clone request (4.4) with the JWT, with any result. */
  clone(data: unknown, credential: string | null = this.target.jwt): Promise<Answer> {
    return this.request('POST', PATHS.clone, { credential, json: { data } });
  }

  /** Registers a voice; fails if it is refused. */
  async cloned(data: Record<string, unknown> = {}): Promise<VoiceObject> {
    const sample = { filename: 'visitor.wav', mime_type: 'audio/wav' };
    const answer = await this.clone({ name: 'Visitor 1', samples: [sample], ...data });
    return expectData(answer, 200, voiceShape, '4.4 clone') as VoiceObject;
  }

  /** The streaming address for a token (4.7), with a fresh `{random_hash}` unless one is given. */
  streamUrl(token: string | null, hash: string = randomBytes(9).toString('base64url')): string {
    const query = token === null ? '' : `?token=${encodeURIComponent(token)}`;
    return this.target.streaming + PATHS.stream(hash) + query;
  }

  /** Tries to open a stream: the stream, or the HTTP answer that refused it. */
  async connect(url: string, headers: Record<string, string> = {}): Promise<Stream | UpgradeRefusal> {
    const result = await connect(url, headers, this.#pace);
    if (result instanceof Stream) this.#streams.add(result);
    return result;
  }

  /** Opens a stream by its token or its whole address; fails if it is refused. */
  async open(tokenOrUrl: string, headers: Record<string, string> = {}): Promise<Stream> {
    const url = /^wss?:/.test(tokenOrUrl) ? tokenOrUrl : this.streamUrl(tokenOrUrl);
    const result = await this.connect(url, headers);
    if (result instanceof Stream) return result;
    throw new Error(`the stream was refused with HTTP ${result.status}: ${result.text.slice(0, 400)}`);
  }

  /** Opens a stream that must also answer, to exclude a refusal after the upgrade. */
  async works(tokenOrUrl: string, headers: Record<string, string> = {}): Promise<Stream> {
    const stream = await this.open(tokenOrUrl, headers);
    await stream.getTask();
    return stream;
  }

  /** Expects a refused connection, in any of the three deliveries. */
  async refused(tokenOrUrl: string, headers: Record<string, string> = {}): Promise<Refusal> {
    const url = /^wss?:/.test(tokenOrUrl) ? tokenOrUrl : this.streamUrl(tokenOrUrl);
    const result = await this.connect(url, headers);
    if (!(result instanceof Stream)) {
      const body = result.json as { errors?: { error_code?: unknown }[] } | undefined;
      return {
        delivery: 'http',
        status: result.status,
        upgrade: result,
        said: result.text,
        errorCode: asNumber(body?.errors?.[0]?.error_code),
        closeCode: null,
      };
    }
    const close = await result.closes();
    const last = result.messages.at(-1);
    return {
      delivery: last === undefined ? 'close' : 'message',
      status: null,
      upgrade: null,
      said: `${result.messages.map((m) => `${m.type} ${JSON.stringify(m.data)}`).join(' ')} ${close.reason}`,
      errorCode: asNumber(last?.data['error_code']),
      closeCode: close.code,
    };
  }

  /** Closes all streams; returns the frames of any of them that break the framing rule of 4.7. */
  async closeStreams(): Promise<{ junk: string[]; misshapen: string[] }> {
    const streams = [...this.#streams];
    this.#streams.clear();
    await Promise.all(streams.map((stream) => stream.end()));
    return {
      junk: streams.flatMap((stream) => stream.junk),
      misshapen: streams.flatMap((stream) => stream.misshapen),
    };
  }

  /** Revokes the sessions of the tests, so that no cap of the account is reached. */
  async revokeAll(): Promise<void> {
    const ids = [...this.#sessions];
    await Promise.all(ids.map((id) => this.revoke(id)));
  }
}

function asNumber(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
