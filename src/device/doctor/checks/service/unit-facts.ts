import type { RunProgram } from '../../../../ports/machine.ts';
import { UNIT_PROPERTIES } from './service-rules.ts';
import { parseProperties, UNIT, type UnitProperties } from './unit-properties.ts';

/** Asks systemd for the agent's unit; null without systemd. */
export async function readUnit(run: RunProgram): Promise<UnitProperties | null> {
  const answer = await run('systemctl', ['show', UNIT, `--property=${UNIT_PROPERTIES.join(',')}`]);
  const unit = answer.ok ? parseProperties(answer.text) : null;
  return unit?.['LoadState'] === undefined ? null : unit;
}
