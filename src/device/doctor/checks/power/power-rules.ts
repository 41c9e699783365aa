import { type Outcome, ok, problem, skipped, warning } from '../../report/finding.ts';

/** Power supply readings of a Raspberry Pi. */
export interface PowerFacts {
  /** Bits from the firmware; null if it does not report them. */
  readonly throttled: number | null;
  /** The kernel's under-voltage alarm; null if there is none. */
  readonly alarm: boolean | null;
}

const NOW = { underVoltage: 0x1, capped: 0x2, throttled: 0x4, tooHot: 0x8 } as const;
const EVER = 16;
const BETTER_SUPPLY = 'Use the power supply made for this board, and a short, thick cable.';

export function judgePower({ throttled, alarm }: PowerFacts): Outcome {
  if (throttled === null && alarm === null) return skipped('this platform does not report it');
  const bits = throttled ?? 0;
  const data = { throttled: throttled === null ? null : `0x${bits.toString(16)}`, alarm };
  if ((bits & NOW.underVoltage) !== 0 || alarm === true)
    return problem('the supply voltage is too low right now', BETTER_SUPPLY, data);
  if ((bits & (NOW.throttled | NOW.capped | NOW.tooHot)) !== 0)
    return warning(
      'the processor is being slowed down right now',
      'Look at the temperature; give it air or a heat sink.',
      data,
    );
  if (((bits >> EVER) & NOW.underVoltage) !== 0)
    return warning('the supply voltage was too low since the last boot', BETTER_SUPPLY, data);
  if (bits >> EVER !== 0)
    return warning(
      'the processor was slowed down since the last boot',
      'Look at the temperature under load; give it air or a heat sink.',
      data,
    );
  return ok('no trouble since the last boot', data);
}
