import { codeOf, reasonRow } from '../../../../protocol/mqtt/reasons.ts';
import { combine, type Outcome, ok, problem, skipped, warning } from '../../report/finding.ts';

export interface AgentFacts {
  readonly version: string;
  readonly status: string;
  /** `code` or `code:detail`. */
  readonly reasons: readonly string[];
  /** True: connected; text: why not; null: not known. */
  readonly broker: true | string | null;
  /** Why the agent cannot use its configuration; null: it can. */
  readonly problem: string | null;
  /** Keys whose running value differs from the configuration file. */
  readonly differing: readonly string[];
}

const RESTART = 'Restart it ("systemctl restart dragoman").';
/** The agent reads a repaired configuration only at a reload. */
const RELOAD = 'Fix whatever the check "configuration" names; then run "systemctl reload dragoman".';
const SEE_REASONS =
  '"Reasons" in docs/operate.md (on a device in /usr/share/doc/dragoman) says what to do about each.';
const LONGEST_REASON = 200;

/**
 * Judges a running agent by its own status.
 * @param facts null: the agent reports nothing that this user can read
 * @param pid null: the agent asks itself
 * @param version of this program
 */
export function judgeAgent(facts: AgentFacts | null, pid: number | null, version: string): Outcome {
  const who = pid === null ? 'the agent' : `the running agent (process ${pid})`;
  if (facts === null)
    return warning(
      `${who} reports no status`,
      'Run this as root or as the user of the agent. An older agent reports nothing: restart it.',
      { agent: pid },
    );
  const { status, reasons, broker, differing } = facts;
  const data = { agent: pid, status, reasons: [...reasons], differing: [...differing] };
  const isDue = (reason: string): boolean => differing.length === 0 || codeOf(reason) !== 'restart_needed';
  const due = reasons.filter((reason) => !isIntended(reason) && isDue(reason));
  return combine([
    ok(`${who} is ${status}${reasons.length === 0 ? '' : ` (${reasons.join(', ')})`}`, data),
    ...(facts.problem === null
      ? judgeReasons(who, due)
      : [
          problem(
            `${who} cannot use its configuration: ${facts.problem}`,
            'Fix it: the agent reads it again every 5 s.',
          ),
        ]),
    ...(typeof broker === 'string'
      ? [problem(`${who} has no connection to the broker: ${broker}`, 'See the check "broker".')]
      : []),
    ...(differing.length > 0
      ? [problem(`${who} runs with another configuration: ${differing.join(', ')}`, RESTART)]
      : []),
    ...(facts.version === version
      ? []
      : [warning(`${who} has version ${facts.version}, and this program ${version}`, RESTART)]),
  ]);
}

export function noAgent(): Outcome {
  return skipped('no agent runs with this configuration');
}

/** Whether the device is deliberately not listening. A newer agent may have reasons that this program does not know. */
function isIntended(reason: string): boolean {
  return reasonRow(reason)?.status === 'idle';
}

function judgeReasons(who: string, reasons: readonly string[]): Outcome[] {
  if (reasons.length === 0) return [];
  const codes = [...new Set(reasons.map(codeOf))];
  const each = codes.map((code) => {
    const same = reasons.filter((reason) => codeOf(reason) === code);
    const means = reasonRow(code)?.means.replaceAll('`', '') ?? 'It is unknown to this program.';
    return `${same.map((reason) => `"${reason.slice(0, LONGEST_REASON)}"`).join(', ')}: ${means}`;
  });
  return [
    problem(
      `${who} reports ${each.join(' ')}`,
      codes.every((code) => code === 'config_problem') ? RELOAD : SEE_REASONS,
    ),
  ];
}
