/** The status line of `systemctl status`: the agent writes it, and the boot report reads it. */

/** Maximum length of the line (characters): the rest is truncated. */
export const LONGEST_STATUS_LINE = 300;

const BROKER_CONNECTED = 'broker connected';
const NO_BROKER = 'no broker: ';

export interface StatusLineFacts {
  readonly status: string;
  readonly reasons: readonly string[];
  /** True: connected; text: why not; null: not known yet. */
  readonly broker: true | string | null;
  readonly lanes: readonly {
    readonly id: string;
    readonly phase: string;
    readonly source: string;
    readonly targets: readonly string[];
  }[];
  /** False: messages carry no time, and certificates cannot be checked. */
  readonly isClockSet: boolean;
  /** Lanes whose sound is stuck. */
  readonly stuck: readonly string[];
}

/** One line: "degraded (capture:lost): main live, en to es; broker connected". */
export function describeUnit({ status, reasons, broker, lanes, stuck, isClockSet }: StatusLineFacts): string {
  const why = reasons.length === 0 ? '' : ` (${reasons.join(', ')})`;
  const parts = lanes.map(
    ({ id, phase, source, targets }) => `${id} ${phase}, ${source} to ${targets.join(' and ')}`,
  );
  const line =
    broker === true ? BROKER_CONNECTED : broker === null ? 'broker not tried yet' : `${NO_BROKER}${broker}`;
  const halt = stuck.length === 0 ? [] : [`sound is stuck in ${stuck.join(', ')}`];
  if (!isClockSet) halt.push('the clock is not set');
  return `${status}${why}: ${[...halt, ...parts, line].join('; ')}`;
}

/** The parts of the line that the boot report needs. */
export interface UnitStatusLine {
  readonly status: string;
  /** `code` or `code:detail`, as in the status over MQTT. */
  readonly reasons: readonly string[];
  /** `unknown`: not tried yet. */
  readonly broker: 'connected' | 'missing' | 'unknown';
}

/** Returns null for a line that the agent did not write. */
export function readUnitStatusLine(line: string): UnitStatusLine | null {
  const [start, status, codes = ''] = /^(\w+)(?: \(([^)]*)\))?: /.exec(line) ?? [];
  if (start === undefined || status === undefined) return null;
  const reasons = codes.split(', ').filter((reason) => reason !== '');
  return { status, reasons, broker: brokerIn(line) };
}

function brokerIn(line: string): UnitStatusLine['broker'] {
  if (line.includes(NO_BROKER)) return 'missing';
  // A truncated line has lost its broker part. A long outage would be among the reasons at its start.
  return line.endsWith(BROKER_CONNECTED) || line.length >= LONGEST_STATUS_LINE - 1 ? 'connected' : 'unknown';
}
