/** The owner's side of the translation service's HTTP API: sessions with the API key, voices with the JWT. */
import * as z from 'zod';
import { createSystemClock } from '../../adapters/clock.ts';
import { createKnownSecrets } from '../../adapters/known-secrets.ts';
import {
  createHttp,
  type HttpAnswer,
  type HttpRequest,
  NoAnswer,
} from '../../adapters/network/http-client.ts';
import type { Clock } from '../../ports/clock.ts';
import { parseJson } from '../../protocol/common/json.ts';
import {
  type CreateSessionInput,
  SESSION_PATHS,
  type Session,
  type SessionWithToken,
  sessionSchema,
  sessionWithTokenSchema,
  successEnvelope,
} from '../../protocol/service/session.ts';
import {
  type CloneVoiceRequest,
  type UploadTarget,
  VOICE_PATHS,
  type VoiceRecord,
  voiceRecordSchema,
} from '../../protocol/service/voice.ts';
import { encodeForm } from './multipart.ts';
import { failureOfAnswer, failureOfShape, failureOfSilence, ServiceFailure } from './service-failure.ts';

export interface ServiceOptions {
  /** `{base_url}`, without a slash at the end. */
  readonly url: string;
  readonly timeoutMs: number;
  /** Called for each request, so that a new key needs no restart. An error that it throws must not contain the key. */
  readonly apiKey: () => string;
  readonly jwt?: () => string;
  readonly ca?: Buffer;
  /** Default: the machine's clock. */
  readonly clock?: Pick<Clock, 'wall'>;
}

/** Every operation throws `ServiceFailure` if it fails. */
export interface ServiceClient {
  createSession(input: CreateSessionInput): Promise<SessionWithToken>;
  /** Null if the session does not exist. */
  getSession(id: string): Promise<Session | null>;
  listSessions(filter?: { clientReferenceId: string }): Promise<Session[]>;
  /** False if the session did not exist. */
  deleteSession(id: string): Promise<boolean>;
  cloneVoice(request: CloneVoiceRequest): Promise<VoiceRecord>;
  /** Uploads a sample to the target from `cloneVoice`, without a credential. */
  uploadSample(target: UploadTarget, file: { name: string; type: string; bytes: Buffer }): Promise<void>;
  /** Null if the voice does not exist. */
  getVoice(id: string): Promise<VoiceRecord | null>;
  close(): void;
}

/** The specification leaves the wrapping of a list open: the sessions are the array in `data`. */
const listSchema = z.preprocess(
  (data) =>
    Array.isArray(data) || typeof data !== 'object' ? data : Object.values(data ?? {}).find(Array.isArray),
  z.array(sessionSchema),
);
/** Number of known tokens and ids (of the last 256 sessions) that are redacted in messages of the service. */
const MOST_KNOWN = 512;
/** Factor on the timeout for an upload, because a large file takes longer. */
const UPLOAD_TIMEOUT_FACTOR = 6;

type Credential = 'apiKey' | 'jwt' | null;

export function createServiceClient(options: ServiceOptions): ServiceClient {
  const http = createHttp(options.ca);
  const { timeoutMs, clock = createSystemClock() } = options;
  /** All secrets that were sent, to redact them in answers. */
  const secrets = new Set<string>();
  const sessions = createKnownSecrets(MOST_KNOWN);
  const scrub = (text: string): string => {
    let safe = text;
    for (const secret of secrets) safe = safe.replaceAll(secret, '[redacted]');
    return sessions.hide(safe);
  };

  const authorization = (credential: Credential, operation: string): Record<string, string> => {
    if (credential === null) return {};
    const read = options[credential];
    try {
      if (read === undefined) throw new Error('no jwtFile is configured');
      const secret = checkSecret(read());
      secrets.add(secret);
      return { authorization: `Bearer ${secret}` };
    } catch (error) {
      const why = error instanceof Error ? error.message : 'unknown reason';
      const trouble = { kind: 'misconfigured', detail: null, retryAfterS: null } as const;
      throw new ServiceFailure(trouble, null, `cannot ${operation}: ${why}`);
    }
  };

  const send = async (request: HttpRequest, operation: string): Promise<HttpAnswer> => {
    try {
      return await http.request(request);
    } catch (error) {
      throw error instanceof NoAnswer ? failureOfSilence(error, operation) : error;
    }
  };

  const call = async (
    operation: string,
    credential: Credential,
    method: HttpRequest['method'],
    path: string,
    json?: unknown,
  ): Promise<HttpAnswer> => {
    const headers = {
      accept: 'application/json',
      ...authorization(credential, operation),
      ...(json !== undefined && { 'content-type': 'application/json' }),
    };
    const body = json === undefined ? {} : { body: JSON.stringify(json) };
    return send({ method, url: options.url + path, headers, timeoutMs, ...body }, operation);
  };

  const read = <T extends z.ZodType>(answer: HttpAnswer, operation: string, data: T): z.output<T> => {
    if (answer.status < 200 || answer.status > 299)
      throw failureOfAnswer(answer, operation, scrub, clock.wall());
    const parsed = successEnvelope(data).safeParse(parseJson(answer.body));
    if (parsed.success) return (parsed.data as { data: z.output<T> }).data;
    throw failureOfShape(
      answer.status,
      operation,
      parsed.error.issues[0]?.path.join('.') || 'no JSON object',
    );
  };

  return {
    async createSession(input) {
      const operation = 'create a session';
      const answer = await call(operation, 'apiKey', 'POST', SESSION_PATHS.sessions, input);
      const session = read(answer, operation, sessionWithTokenSchema);
      sessions.addToken(session.token);
      sessions.addSession(session.id);
      for (const field of ['intent', 'connection_type'] as const) {
        const wanted = input[field];
        if (wanted !== undefined && session[field] !== wanted)
          throw failureOfShape(answer.status, operation, field);
      }
      return session;
    },
    async getSession(id) {
      sessions.addSession(id);
      const answer = await call('get the session', 'apiKey', 'GET', SESSION_PATHS.session(id));
      return isMissing(answer) ? null : read(answer, 'get the session', sessionSchema);
    },
    async listSessions(filter) {
      const query = filter ? `?client_reference_id=${encodeURIComponent(filter.clientReferenceId)}` : '';
      const answer = await call('list sessions', 'apiKey', 'GET', SESSION_PATHS.sessions + query);
      return read(answer, 'list sessions', listSchema);
    },
    async deleteSession(id) {
      sessions.addSession(id);
      const answer = await call('revoke the session', 'apiKey', 'DELETE', SESSION_PATHS.session(id));
      if (isMissing(answer)) return false;
      if (answer.status >= 200 && answer.status <= 299) return true;
      throw failureOfAnswer(answer, 'revoke the session', scrub, clock.wall());
    },
    async cloneVoice(request) {
      const answer = await call('clone the voice', 'jwt', 'POST', VOICE_PATHS.clone, request);
      return read(answer, 'clone the voice', voiceRecordSchema);
    },
    async uploadSample(target, file) {
      const { contentType, body } = encodeForm(target.form_data, file);
      const headers = { 'content-type': contentType };
      const request = { method: 'POST', url: target.url, headers, body } as const;
      const answer = await send(
        { ...request, timeoutMs: timeoutMs * UPLOAD_TIMEOUT_FACTOR },
        'upload the sample',
      );
      if (answer.status >= 200 && answer.status <= 299) return;
      throw failureOfAnswer(answer, 'upload the sample', scrub, clock.wall());
    },
    async getVoice(id) {
      const answer = await call('get the voice', 'jwt', 'GET', VOICE_PATHS.voice(id));
      return isMissing(answer) ? null : read(answer, 'get the voice', voiceRecordSchema);
    },
    close: () => http.close(),
  };
}

/** Checks that a secret can be sent in a header. */
function checkSecret(secret: string): string {
  const trimmed = secret.trim();
  if (!/^[\x21-\x7e]{1,8192}$/.test(trimmed))
    throw new Error('the key is empty or contains invalid characters');
  return trimmed;
}

const isMissing = (answer: HttpAnswer): boolean => answer.status === 404;
