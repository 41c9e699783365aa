/** What the agent's unit, or its status at the broker, tells of it, as the boot report reads it. */

/** `idle` is deliberate: as good as `ready` for who has set it up. */
export type AgentWord =
  /** There is no systemd that could be asked, or no such unit. */
  | { readonly kind: 'unknown' }
  /** It does not run, or does not stay up. */
  | { readonly kind: 'down'; readonly why: string }
  /** It runs, and has not said how it is. */
  | { readonly kind: 'starting' }
  | {
      readonly kind: 'says';
      readonly status: string;
      /** `code` or `code:detail`, as the status over MQTT has them. */
      readonly reasons: readonly string[];
      /** All that it says. */
      readonly text: string;
    };

/** What is asked for with `systemctl show`. */
export const AGENT_PROPERTIES = ['LoadState', 'ActiveState', 'SubState', 'Result', 'NRestarts', 'StatusText'];

/** This many restarts since boot are no accident. */
const MANY_RESTARTS = 3;

/** Its end tells that the agent has the broker. */
export const BROKER_CONNECTED = 'broker connected';

/** What the broker keeps of it: it has said so itself, or the broker has seen it go. */
export function readToldStatus({
  status,
  reasons,
}: {
  status: string;
  reasons: readonly string[];
}): AgentWord {
  const why = reasons.length === 0 ? '' : ` (${reasons.join(', ')})`;
  const said = `${status}${why}`.slice(0, LONGEST_WORD);
  if (GONE.includes(status)) return { kind: 'down', why: `the agent's last word is "${said}"` };
  if (status === 'stopping') return { kind: 'starting' };
  return { kind: 'says', status, reasons, text: `${said}: ${BROKER_CONNECTED}` };
}

const GONE = ['offline', 'lost'];
const LONGEST_WORD = 200;

/** @param unit null where systemd cannot be asked */
export function readAgentWord(unit: Readonly<Record<string, string>> | null): AgentWord {
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
