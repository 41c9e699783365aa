import { redactValue } from '../../adapters/redaction.ts';
import { CHECKS, type CheckName, type Diagnosis, diagnosisSchema } from '../../protocol/mqtt/diagnose.ts';
import { CommandError } from '../commands/command-request.ts';
import { CHECK_LIST } from './check-list.ts';
import { createBackendProbe } from './checks/backend/backend-probe.ts';
import { createInside, type OwnState } from './inside.ts';
import { runChecks } from './report/check.ts';
import { diagnosisOf } from './report/finding.ts';
import { checksAt } from './way.ts';

export interface DiagnoseDeps extends OwnState {
  randomHash(): string;
  /** Removes tokens and session ids from a text. */
  hide(text: string): string;
}

/** The doctor inside a running agent. */
export interface Diagnose {
  /** @throws CommandError while another diagnosis runs */
  run(only: readonly CheckName[] | null): Promise<Diagnosis>;
  /** Ids of the trial requests that wait for an answer. */
  readonly pending: readonly string[];
  /** Handles an answer to a token request; true if it belongs to a trial. */
  receive(body: unknown): boolean;
  /** An answer was refused. @param why the reason, as the end of a sentence */
  refused(why: string): void;
}

/**
 * The doctor's checks inside the agent: over its live connection, with the microphones of its lanes, and without a
 * test tone.
 */
export function createDiagnose(deps: DiagnoseDeps): Diagnose {
  const { topics, clock, version } = deps;
  const probe = createBackendProbe(topics, clock, () => `doctor-${deps.randomHash()}`, deps.hide);
  let isRunning = false;
  return {
    async run(only) {
      if (isRunning) throw new CommandError('busy', 'a diagnosis is under way; ask again in a minute');
      isRunning = true;
      try {
        const tells = (name: CheckName): boolean => only === null || only.includes(name);
        const inside = createInside(deps, probe, tells);
        const checks = checksAt(inside, CHECK_LIST, CHECKS.filter(tells), (check) => check.inside);
        const answerBody = diagnosisOf(version, await runChecks(checks, { clock }));
        // The last safeguard, as in the log: no text that looks like a secret leaves the device.
        return diagnosisSchema.parse(redactValue(answerBody));
      } finally {
        isRunning = false;
      }
    },
    get pending() {
      return probe.pending;
    },
    receive: (body) => probe.receive(body),
    refused: (why) => probe.refused(why),
  };
}
