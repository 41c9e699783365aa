import { formatProblem } from '../../adapters/config/layer.ts';
import type { LoadResult } from '../../adapters/config/load.ts';
import { parseProperties, UNIT } from '../../device/doctor/checks/service/unit-properties.ts';
import { createExamination } from '../../device/doctor/examination.ts';
import { runChecks } from '../../device/doctor/report/check.ts';
import {
  AGENT_PROPERTIES,
  type AgentState,
  readBrokerStatus,
  readUnitStatus,
} from '../../installer/core/agent-state.ts';
import type { StartFacts, WifiTrouble } from '../../installer/core/start-facts.ts';
import { readInterfaces, readWifiTrouble } from '../../installer/network.ts';
import type { Clock } from '../../ports/clock.ts';
import type { MachineParts } from '../../ports/machine.ts';
import type { CheckName, Finding } from '../../protocol/mqtt/diagnose.ts';

export interface StartPollParts {
  readonly file: string;
  load(): LoadResult;
  readonly machine: MachineParts;
  readonly clock: Clock;
  readonly interfaces?: () => StartFacts['interfaces'];
}

/** Examines the machine and its agent once. The doctor checks only what the agent does not report itself. */
export async function pollStart(
  { file, load, machine, clock, interfaces = readInterfaces }: StartPollParts,
  asksDoctor: boolean,
  abort: AbortSignal,
): Promise<StartFacts> {
  const loaded = load();
  const agent = await askAgent(machine, loaded);
  const ways = interfaces();
  const facts = {
    agent,
    interfaces: ways,
    isClockSet: clock.wall() !== null,
    wifi: await wifiOf(ways, machine),
  };
  const only = asksDoctor ? questionsFor(agent) : [];
  if (only.length === 0 || !loaded.ok) return { ...facts, findings: [] };
  const examination = createExamination({ file, loaded, machine, clock, only, isSilent: false });
  try {
    const findings: Finding[] = await runChecks(examination.checks, { clock, abort });
    if (agent.kind !== 'unknown' || abort.aborted) return { ...facts, findings };
    // The init system knows of no agent, but one may run: then the broker knows its status.
    const brokerStatus = await examination.agentStatus().catch(() => null);
    return { ...facts, agent: brokerStatus === null ? agent : readBrokerStatus(brokerStatus), findings };
  } finally {
    await examination.close();
  }
}

/** Skips a Wi-Fi that does not exist, or is not needed. */
async function wifiOf(ways: StartFacts['interfaces'], { run, env }: MachineParts): Promise<WifiTrouble> {
  const wireless = ways.find(({ isWireless }) => isWireless);
  if (wireless === undefined || ways.some(({ addresses }) => addresses.length > 0)) return null;
  return readWifiTrouble(run, wireless.name, env['RUNTIME_DIRECTORY']?.split(':')[0]);
}

async function askAgent({ run }: MachineParts, loaded: LoadResult): Promise<AgentState> {
  const answer = await run('systemctl', ['show', UNIT, `--property=${AGENT_PROPERTIES.join(',')}`]);
  const word = readUnitStatus(answer.ok ? parseProperties(answer.text) : null);
  if (word.kind !== 'unknown' || loaded.ok) return word;
  // No agent is running that would report the problem.
  const [first] = loaded.problems;
  const why = first === undefined ? 'it cannot be used' : formatProblem(first);
  const text = `degraded (config): ${why}`;
  return { kind: 'says', status: 'degraded', reasons: ['config'], broker: 'unknown', text };
}

/** Checks to run: a connected agent reports its own problems, and no token is requested in its place. */
function questionsFor(agent: AgentState): CheckName[] {
  switch (agent.kind) {
    case 'unknown':
      return ['broker', 'backend', 'capture'];
    case 'down':
      return ['capture'];
    case 'starting':
      return [];
    case 'says':
      return agent.broker === 'missing' || agent.reasons.some((reason) => reason.startsWith('no_broker'))
        ? ['broker']
        : [];
  }
}
