import { redactValue } from '../../adapters/redaction.ts';
import { CHECKS, type CheckName, type Diagnosis, diagnosisSchema } from '../../protocol/mqtt/diagnose.ts';
import { CommandError } from '../commands/command-request.ts';
import { CHECK_LIST } from './check-list.ts';
import type { BackendProbe } from './checks/backend/backend-probe.ts';
import { createInside, type OwnState } from './inside.ts';
import { runChecks } from './report/check.ts';
import { diagnosisOf } from './report/finding.ts';
import { checksAt } from './way.ts';

export interface DiagnoseDeps extends OwnState {
  /** Its trial requests to the backend. */
  readonly trials: BackendProbe;
}

/** The doctor inside a running agent. */
export interface Diagnose {
  /** @throws CommandError while another diagnosis runs */
  run(only: readonly CheckName[] | null): Promise<Diagnosis>;
}

/**
 * The doctor's checks inside the agent: over its live connection, with the microphones of its lanes, and without a
 * test tone.
 */
export function createDiagnose(deps: DiagnoseDeps): Diagnose {
  const { clock, version, trials } = deps;
  let isRunning = false;
  return {
    async run(only) {
      if (isRunning) throw new CommandError('busy', 'a diagnosis is under way; ask again in a minute');
      isRunning = true;
      try {
        const tells = (name: CheckName): boolean => only === null || only.includes(name);
        const inside = createInside(deps, trials, tells);
        const checks = checksAt(inside, CHECK_LIST, CHECKS.filter(tells), (check) => check.inside);
        const answerBody = diagnosisOf(version, await runChecks(checks, { clock }));
        // The last safeguard, as in the log: no text that looks like a secret leaves the device.
        return diagnosisSchema.parse(redactValue(answerBody));
      } finally {
        isRunning = false;
      }
    },
  };
}
