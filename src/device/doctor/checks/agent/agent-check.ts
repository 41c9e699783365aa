import { statSync } from 'node:fs';
import type { ReceivedStatus } from '../../../../fleet/device-messages.ts';
import type { MachineParts } from '../../../../ports/machine.ts';
import type { Config } from '../../../../protocol/config.ts';
import type { RunningNote } from '../../../../protocol/running-note.ts';
import { VERSION } from '../../../../protocol/version.ts';
import { differingKeys, fingerprints } from '../../../config/fingerprints.ts';
import { type Check, deviceCheck } from '../../report/check.ts';
import { readAgentNote } from '../../running-agent/agent-note.ts';
import { findRunningAgents, runsWith } from '../../running-agent/running-agents.ts';
import { BROKER_LIMIT_MS } from '../../servers.ts';
import type { AgentLink } from '../broker/login-rules.ts';
import { type AgentFacts, judgeAgent, noAgent } from './agent-rules.ts';

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

/**
 * Whether the running agent's connection proves that the login works. A login that was changed later is not proven.
 */
export function linkOf({ mayAgentRun, note }: AgentAround, config: Config): AgentLink {
  if (!mayAgentRun) return 'absent';
  if (note === null || note.broker === null) return 'unknown';
  if (note.broker !== true) return { fails: note.broker };
  const { passwordFile, certFile, keyFile } = config.mqtt;
  const changedAt = Math.max(...[passwordFile, certFile, keyFile].map(changeOf));
  const isProven = changedAt < (note.connectedSince ?? Number.NEGATIVE_INFINITY);
  return isProven && note.config['mqtt'] === fingerprints(config)['mqtt'] ? 'connected' : 'unknown';
}

/** When a file changed (ms since 1970); a missing one is reported separately. */
function changeOf(file: string | null): number {
  try {
    return file === null ? Number.NEGATIVE_INFINITY : statSync(file).mtimeMs;
  } catch {
    return Number.NEGATIVE_INFINITY;
  }
}

/**
 * Reads the running agent's status, and compares its configuration with the file.
 * @param config null: the file cannot be used
 * @param askBroker reads the agent's published status, if it left no note
 */
export function agentCheck(
  { agent, note }: AgentAround,
  config: Config | null,
  askBroker: () => Promise<ReceivedStatus | null>,
): Check {
  return deviceCheck('agent', BROKER_LIMIT_MS, async () => {
    if (agent === null) return noAgent();
    return judgeAgent(
      note === null ? factsOfStatus(await askBroker()) : factsOfNote(note, config),
      agent,
      VERSION,
    );
  });
}

function factsOfNote(note: RunningNote, config: Config | null): AgentFacts {
  // Another version may have other defaults.
  const isComparable = config !== null && note.problem === null && note.version === VERSION;
  return { ...note, differing: isComparable ? differingKeys(note.config, fingerprints(config)) : [] };
}

function factsOfStatus(status: ReceivedStatus | null): AgentFacts | null {
  return status === null ? null : { ...status, broker: null, problem: null, differing: [] };
}
