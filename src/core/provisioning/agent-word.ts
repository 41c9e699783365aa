/** What the agent's unit tells of it, as the boot report reads it. */

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
