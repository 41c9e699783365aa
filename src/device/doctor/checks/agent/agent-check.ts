import type { ReceivedStatus } from '../../../../fleet/device-messages.ts';
import type { Config } from '../../../../protocol/config.ts';
import type { RunningNote } from '../../../../protocol/running-note.ts';
import { VERSION } from '../../../../protocol/version.ts';
import { differingKeys, fingerprints } from '../../../config/fingerprints.ts';
import type { Outcome } from '../../report/finding.ts';
import type { AgentAround } from '../../running-agent/agent-around.ts';
import { type AgentFacts, judgeAgent, noAgent } from './agent-rules.ts';

/**
 * Reads the running agent's status, and compares its configuration with the file.
 * @param config null: the file cannot be used
 * @param askBroker reads the agent's published status, if it left no note
 */
export async function examineAgent(
  { agent, note }: AgentAround,
  config: Config | null,
  askBroker: () => Promise<ReceivedStatus | null>,
): Promise<Outcome> {
  if (agent === null) return noAgent();
  const facts = note === null ? factsOfStatus(await askBroker()) : factsOfNote(note, config);
  return judgeAgent(facts, agent, VERSION);
}

/** The running agent about itself: it answers over its connection, and runs with its own configuration. */
export function judgeItself(
  status: { readonly status: string; readonly reasons: readonly string[] },
  version: string,
): Outcome {
  return judgeAgent({ ...status, version, broker: true, problem: null, differing: [] }, null, version);
}

function factsOfNote(note: RunningNote, config: Config | null): AgentFacts {
  // Another version may have other defaults.
  const isComparable = config !== null && note.problem === null && note.version === VERSION;
  return { ...note, differing: isComparable ? differingKeys(note.config, fingerprints(config)) : [] };
}

function factsOfStatus(status: ReceivedStatus | null): AgentFacts | null {
  return status === null ? null : { ...status, broker: null, problem: null, differing: [] };
}
