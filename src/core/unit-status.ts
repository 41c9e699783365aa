/** Facts for the status line of `systemctl status`. */
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
    broker === true ? 'broker connected' : broker === null ? 'broker not tried yet' : `no broker: ${broker}`;
  const halt = stuck.length === 0 ? [] : [`sound is stuck in ${stuck.join(', ')}`];
  if (!isClockSet) halt.push('the clock is not set');
  return `${status}${why}: ${[...halt, ...parts, line].join('; ')}`;
}
