import type { ReceivedStatus } from '../../fleet/device-messages.ts';
import { CHECKS, type CheckName } from '../../protocol/mqtt/diagnose.ts';
import { CHECK_LIST } from './check-list.ts';
import { createOutside, type OutsideParts } from './outside.ts';
import type { Check } from './report/check.ts';
import { checksAt } from './way.ts';

/** All checks of a device, whether or not its agent runs, and a way to close what they opened. */
export interface Examination {
  readonly checks: readonly Check[];
  /** The status of a running agent at the broker; null if there is none, or the broker is unreachable. */
  agentStatus(): Promise<ReceivedStatus | null>;
  close(): Promise<void>;
}

export interface ExaminationOptions extends Omit<OutsideParts, 'tells'> {
  /** The selected checks; null is all. */
  readonly only: readonly CheckName[] | null;
}

export function createExamination(options: ExaminationOptions): Examination {
  const { only } = options;
  const tells = (name: CheckName): boolean => only === null || only.includes(name);
  const outside = createOutside({ ...options, tells });
  const { configured, around } = outside;
  // The configuration check explains why others are skipped.
  const isReported = (name: CheckName): boolean =>
    tells(name) || (name === 'configuration' && configured === null);
  return {
    checks: checksAt(outside, CHECK_LIST, CHECKS.filter(isReported), (check) => check.outside),
    async agentStatus() {
      // The retained status of an agent that is not running means nothing.
      return around.mayAgentRun && configured !== null ? configured.askStatus() : null;
    },
    async close() {
      await configured?.close();
    },
  };
}
