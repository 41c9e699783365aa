import { type Outcome, ok, problem, skipped, warning } from '../../report/finding.ts';

/** A server's answer to a WebSocket request without a token. */
export interface UpgradeFacts {
  /** HTTP status; 101 is an accepted upgrade. Null: no answer. */
  readonly status: number | null;
  /** Error code if there was no answer. */
  readonly code: string | null;
  /** The library's own message; null: the code says enough. */
  readonly words?: string | null;
  /** The redirect target, safe to show; null: none. */
  readonly location?: string | null;
  /** The server's own time, wall-clock milliseconds. */
  readonly date: number | null;
}

/** A refusal because of the missing token proves that the service is reachable. */
export function judgeUpgrade(facts: UpgradeFacts, host: string): Outcome {
  const { status, code, words = null, location = null } = facts;
  const data = { http_status: status, ...(location !== null && { location }) };
  if (status === null)
    return problem(
      `${host} does not answer a request to open a stream (${words ?? code ?? 'no answer'})`,
      "Check streamUrl in the backend's configuration, and whether a proxy lets WebSockets through.",
      data,
    );
  if (status === 101 || status === 400 || status === 401 || status === 403 || status === 426)
    return ok(`it opens streams (HTTP ${status} without a token)`, data);
  if (status === 404)
    return problem(
      `${host} offers no streams at this address (HTTP 404)`,
      "Check the path of streamUrl in the backend's configuration.",
      data,
    );
  const fix =
    status >= 500
      ? 'The service has a fault: try again later, and inform its provider if it persists.'
      : location === null
        ? "Check streamUrl in the backend's configuration."
        : "Redirects are not followed: change streamUrl in the backend's configuration.";
  return warning(
    `${host} answers a request to open a stream with HTTP ${status}${location === null ? '' : `, which leads to ${location}`}`,
    fix,
    data,
  );
}

export const NO_STREAM_ADDRESS = skipped('its address comes from the backend, which gave none');
