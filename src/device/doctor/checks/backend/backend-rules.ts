import { denialRow } from '../../../../protocol/mqtt/denials.ts';
import { type Outcome, ok, problem, warning } from '../../report/finding.ts';

/** Answer to a test request for a token. Never contains a token. */
export type BackendAnswer =
  | { readonly kind: 'probed'; readonly session: 'deleted' | 'expires' | 'none' }
  /** The backend does not support test requests: the token was discarded unread. */
  | { readonly kind: 'granted'; readonly windowS: number | null }
  | {
      readonly kind: 'denied';
      readonly code: string;
      readonly detail: string;
      readonly final: boolean;
      readonly retryAfterS: number | null;
    }
  | { readonly kind: 'malformed' }
  /** Only untrusted answers came; `why` completes a sentence. */
  | { readonly kind: 'refused'; readonly why: string }
  /** The broker did not accept the request. */
  | { readonly kind: 'unasked' }
  | { readonly kind: 'silent'; readonly waitedS: number };

export function judgeBackend(answer: BackendAnswer, tookMs: number, requestTopic: string): Outcome {
  const data = { answer: answer.kind, took_ms: Math.round(tookMs) };
  switch (answer.kind) {
    case 'probed': {
      const left = answer.session === 'expires' ? 'its session will expire' : 'no session is left';
      return ok(`a token was issued in ${Math.round(tookMs)} ms and returned; ${left}`, data);
    }
    case 'granted': {
      const within = answer.windowS === null ? 'soon' : `within ${Math.round(answer.windowS)} s`;
      return ok(
        `a token was issued in ${Math.round(tookMs)} ms and discarded; its session expires ${within}`,
        data,
      );
    }
    case 'malformed':
      return problem(
        'the backend answered with something that is neither a token nor a refusal',
        'Check that backend and agent are of matching versions.',
        data,
      );
    case 'refused':
      return problem(
        `an answer was rejected: ${answer.why}`,
        "Set owner.publicKeyFiles to the public key that belongs to the backend's signingKeyFile. If it is already set, another program answers in place of the backend.",
        data,
      );
    case 'unasked':
      return problem(
        `the broker does not let this device publish ${requestTopic}`,
        "Allow the device this topic in the broker's access list.",
        data,
      );
    case 'silent':
      return problem(
        `no backend answered within ${answer.waitedS} s`,
        `Start the backend, and check that the broker allows this device to publish ${requestTopic} and the backend to answer.`,
        data,
      );
    case 'denied':
      return judgeDenial(answer, data);
  }
}

function judgeDenial(
  { code, detail, final, retryAfterS }: Extract<BackendAnswer, { kind: 'denied' }>,
  data: Outcome['data'],
): Outcome {
  const denial = `the backend gives no token: ${detail} (${code})`;
  const figures = { ...data, code, final, retry_after_s: retryAfterS };
  if (!final) {
    const wait = retryAfterS === null ? 'a minute' : `${Math.ceil(retryAfterS)} s`;
    return warning(denial, `Try again in ${wait}.`, figures);
  }
  return problem(
    denial,
    denialRow(code)?.todo.replaceAll('`', '"') ?? "Look at the backend's log for the reason.",
    figures,
  );
}
