import type { MachineParts } from '../../../ports/machine.ts';
import type { RunningNote } from '../../../protocol/running-note.ts';
import { readAgentNote } from './agent-note.ts';
import { findRunningAgents, runsWith } from './running-agents.ts';

/** The agents of this machine, as the doctor sees them. */
export interface AgentAround {
  /** Process id of the agent with the examined configuration; null: none was found. */
  readonly agent: number | null;
  /** Whether any agent may be running: one with another configuration may use the same client identifier. */
  readonly mayAgentRun: boolean;
  /** The status of the agent with this configuration. */
  readonly note: RunningNote | null;
}

export function findAgent({ kernel, env }: MachineParts, file: string): AgentAround {
  const agents = findRunningAgents(kernel.proc, process.pid);
  const agent = agents?.find((one) => runsWith(one, file))?.pid ?? null;
  return {
    agent,
    mayAgentRun: agents === undefined || agents.length > 0,
    note: agent === null ? null : readAgentNote(kernel.proc, agent, env),
  };
}
