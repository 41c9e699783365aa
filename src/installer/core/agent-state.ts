/** State of the agent as the boot report sees it: from its systemd unit, or from its status at the broker. */

/** `idle` is a deliberate state, as good as `ready` for a person who sets up the kiosk. */
export type AgentState =
  /** There is no systemd to ask, or no such unit. */
  | { readonly kind: 'unknown' }
  /** It does not run, or keeps stopping. */
  | { readonly kind: 'down'; readonly why: string }
  /** It runs, but has not reported a status yet. */
  | { readonly kind: 'starting' }
  | {
      readonly kind: 'says';
      readonly status: string;
      /** `code` or `code:detail`, as in the status over MQTT. */
      readonly reasons: readonly string[];
      /** The complete status line. */
      readonly text: string;
    };

/** Properties to request from `systemctl show`. */
export const AGENT_PROPERTIES = ['LoadState', 'ActiveState', 'SubState', 'Result', 'NRestarts', 'StatusText'];

/** Restarts since boot that are more than chance. */
const MANY_RESTARTS = 3;

/** Ending of the status line while the agent is connected to the broker. */
export const BROKER_CONNECTED = 'broker connected';

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
  return { kind: 'says', status, reasons, text: `${said}: ${BROKER_CONNECTED}` };
}

const GONE = ['offline', 'lost'];
const LONGEST_WORD = 200;

/** @param unit null if systemd cannot be asked */
export function readUnitStatus(unit: Readonly<Record<string, string>> | null): AgentState {
  const { LoadState, ActiveState, SubState, Result, NRestarts, StatusText = '' } = unit ?? {};
  if (LoadState !== 'loaded') return { kind: 'unknown' };
  const isUp = ActiveState === 'active' || ActiveState === 'reloading';
  const [, status, reasons = ''] = /^(\w+)(?: \(([^)]*)\))?: /.exec(StatusText) ?? [];
  if (isUp && status !== undefined) {
    const codes = reasons.split(', ').filter((reason) => reason !== '');
    return { kind: 'says', status, reasons: codes, text: StatusText };
  }
  if (isUp || (ActiveState === 'activating' && Number(NRestarts ?? 0) < MANY_RESTARTS))
    return { kind: 'starting' };
  return { kind: 'down', why: `dragoman.service is ${ActiveState} (${SubState}), result ${Result}` };
}
