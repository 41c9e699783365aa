import { readUnitStatusLine, type UnitStatusLine } from '../../core/unit-status.ts';

/** State of the agent as the boot report sees it: from its systemd unit, or from its status at the broker. */

/** `idle` is a deliberate state, which counts as `ready` for a person who sets up the kiosk. */
export type AgentState =
  /** There is no systemd to ask, or no such unit. */
  | { readonly kind: 'unknown' }
  /** It is not running, or keeps stopping. */
  | { readonly kind: 'down'; readonly why: string }
  /** It is running, but has not reported a status yet. */
  | { readonly kind: 'starting' }
  /** `text` is the complete status line. */
  | ({ readonly kind: 'says'; readonly text: string } & UnitStatusLine);

/** Properties to request from `systemctl show`. */
export const AGENT_PROPERTIES = ['LoadState', 'ActiveState', 'SubState', 'Result', 'NRestarts', 'StatusText'];

/** From this many restarts since boot, an activating unit counts as down instead of starting. */
const MANY_RESTARTS = 3;

/** Reads the retained status: from the agent itself, or from its last will. */
export function readBrokerStatus({
  status,
  reasons,
}: {
  status: string;
  reasons: readonly string[];
}): AgentState {
  const why = reasons.length === 0 ? '' : ` (${reasons.join(', ')})`;
  const said = `${status}${why}`.slice(0, LONGEST_WORD);
  if (GONE.includes(status)) return { kind: 'down', why: `the agent's last status is "${said}"` };
  if (status === 'stopping') return { kind: 'starting' };
  return { kind: 'says', status, reasons, broker: 'connected', text: `${said}: broker connected` };
}

const GONE = ['offline', 'lost'];
const LONGEST_WORD = 200;

/** @param unit null if systemd cannot be asked */
export function readUnitStatus(unit: Readonly<Record<string, string>> | null): AgentState {
  const { LoadState, ActiveState, SubState, Result, NRestarts, StatusText = '' } = unit ?? {};
  if (LoadState !== 'loaded') return { kind: 'unknown' };
  const isUp = ActiveState === 'active' || ActiveState === 'reloading';
  const line = readUnitStatusLine(StatusText);
  if (isUp && line !== null) return { kind: 'says', ...line, text: StatusText };
  if (isUp || (ActiveState === 'activating' && Number(NRestarts ?? 0) < MANY_RESTARTS))
    return { kind: 'starting' };
  return { kind: 'down', why: `dragoman.service is ${ActiveState} (${SubState}), result ${Result}` };
}
