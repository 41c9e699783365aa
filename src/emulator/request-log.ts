import { REDACTED, redactText } from '../adapters/redaction.ts';
import { isObject } from '../protocol/common/json.ts';
import type { Answer } from './core/refusal.ts';

/** One request to the service, or one refusal on a stream. */
export interface RequestEntry {
  readonly at: string;
  /** `http`: a request; `stream`: a WebSocket upgrade; `message`: an error or warning on a stream; `close`: a stream's end. */
  readonly kind: 'http' | 'stream' | 'message' | 'close';
  readonly method: string | null;
  /** The requested path, without its query and without parts that may be a secret. */
  readonly path: string | null;
  readonly stream: string | null;
  /** The HTTP status, or the WebSocket's closing code. */
  readonly status: number | null;
  /** Why the request was refused; null: it was not. */
  readonly reason: string | null;
  readonly detail: string | null;
}

/** What the caller of `note` knows about a request. */
export type RequestFacts = Partial<Omit<RequestEntry, 'at' | 'path'>> & {
  readonly kind: RequestEntry['kind'];
  /** The requested address. */
  readonly url?: string;
};

/** Reports requests and refusals, without credentials. */
export interface RequestLog {
  note(facts: RequestFacts): void;
}

const LONGEST_DETAIL = 400;
/** The form of the known parts of the service's addresses; any other part may be a misplaced token. */
const PLAIN_SEGMENT = /^(?:[a-z]+(?:-[a-z]+)*|v\d{1,2})$/;
const LONGEST_SEGMENT = 24;
const CREDENTIAL = /[\w.~+/=-]{6,}/g;

export interface RequestLogSetup {
  /** The time shown, milliseconds since 1970. */
  readonly wall: () => number;
  /** Whether a text is a valid credential. */
  readonly isCredential: (text: string) => boolean;
  /** Called with each entry. */
  readonly onEntry?: ((entry: RequestEntry) => void) | undefined;
}

export function createRequestLog({ wall, isCredential, onEntry }: RequestLogSetup): RequestLog {
  const hide = (text: string): string =>
    redactText(text.slice(0, LONGEST_DETAIL)).replace(CREDENTIAL, (word) =>
      isCredential(word) ? REDACTED : word,
    );
  const pathOf = (url: string): string => {
    const [path = '', query] = url.split('?', 2);
    const segments = path.split('/').map((segment) => {
      const isPlain = segment.length <= LONGEST_SEGMENT && PLAIN_SEGMENT.test(segment);
      return segment === '' || (isPlain && !isCredential(segment)) ? segment : '*';
    });
    return `${segments.slice(0, 12).join('/')}${query === undefined ? '' : '?*'}`;
  };

  return {
    note({ url, detail = null, method = null, stream = null, status = null, reason = null, kind }) {
      onEntry?.({
        at: new Date(wall()).toISOString(),
        kind,
        // The client may send any text as a method.
        method: method !== null && /^[A-Z]{1,10}$/.test(method) ? method : null,
        path: url === undefined ? null : pathOf(url),
        stream,
        status,
        reason,
        detail: detail === null ? null : hide(detail),
      });
    },
  };
}

/** Reason and detail of a refusal's body; empty for any other body. */
export function refusalFacts(body: unknown): { reason?: string; detail?: string } {
  const errors = isObject(body) ? body['errors'] : undefined;
  if (!Array.isArray(errors)) return {};
  const details = errors.map((error: { detail?: unknown }) => String(error?.detail ?? ''));
  const [reason = ''] = (details[0] ?? '').split(': ', 1);
  const words = details.map((detail) => detail.replace(`${reason}: `, '')).join('; ');
  return { reason, detail: words };
}

/** Status, reason and detail of an HTTP refusal. */
export function answerFacts({ status, body }: Answer): { status: number; reason?: string; detail?: string } {
  return { status, ...refusalFacts(body) };
}

/** An entry as one readable line. */
export function requestLine({
  at,
  kind,
  method,
  path,
  stream,
  status,
  reason,
  detail,
}: RequestEntry): string {
  const what = kind === 'message' || kind === 'close' ? kind : `${method ?? '?'} ${path ?? ''}`.trim();
  const parts = [at.slice(11, 23), stream, what, status, reason === null ? null : `${reason}:`, detail];
  return parts
    .filter((part) => part !== null && part !== '')
    .join(' ')
    .replace(/:$/, '');
}
