import type { CheckName, Diagnosis, Finding } from '../../protocol/mqtt/diagnose.ts';
import { createTokenTrial, type TokenTrialParts } from './checks/backend/backend-check.ts';
import type { BrokerConnection } from './checks/broker/broker-connection.ts';
import { judgeClock } from './checks/clock/clock-rules.ts';
import { examineStreamHost, type StreamHostParts } from './checks/stream/stream-check.ts';
import { NO_STREAM_ADDRESS } from './checks/stream/stream-rules.ts';
import { once } from './report/check.ts';
import type { Outcome } from './report/finding.ts';

export interface ServersParts extends TokenTrialParts, StreamHostParts {
  /** The running agent's findings over its own connection; null: the agent does not answer. */
  askAgent?(only: readonly CheckName[]): Promise<Diagnosis | null>;
}

/**
 * The servers that the agent needs: broker, backend, stream host. Each is found through the one before. Several checks ask for them, and
 * each is contacted once.
 */
export interface Servers {
  join(): Promise<BrokerConnection>;
  judgeBroker(): Promise<Outcome>;
  judgeBackend(): Promise<Outcome>;
  judgeStreamHost(): Promise<Outcome>;
  /** Compares this machine's clock with those of the servers that were reached. */
  judgeClock(): Promise<Outcome>;
  /** The running agent's own finding if only the agent can connect; otherwise that of `judge`. */
  orAgents(name: CheckName, judge: () => Promise<Outcome>): Promise<Outcome>;
}

export function createServers(parts: ServersParts): Servers {
  const join = once(parts.join);
  const backend = createTokenTrial({ ...parts, join });
  const look = once(async () => {
    const address = (await backend.ask())?.streamUrl ?? null;
    return address === null ? null : examineStreamHost(address, parts);
  });
  const findAsAgent = createAgentsFindings(parts);
  return {
    join,
    judgeBroker: async () => (await join()).outcome,
    judgeBackend: backend.judge,
    async judgeStreamHost() {
      const seen = await look();
      if (seen !== null) return seen.outcome;
      return parts.tells('backend') ? NO_STREAM_ADDRESS : backend.judge();
    },
    async judgeClock() {
      const sights = [(await backend.ask())?.sight, (await look())?.sight];
      return judgeClock(
        parts.clock.wall(),
        sights.filter((sight) => sight != null),
      );
    },
    async orAgents(name, judge) {
      const { isAgentsAlone = false } = await join();
      return (isAgentsAlone ? await findAsAgent(name) : undefined) ?? judge();
    },
  };
}

/** Asks the running agent first about the broker, then about the rest: the agent allows one diagnosis at a time. */
function createAgentsFindings({
  askAgent = async () => null,
  tells,
}: ServersParts): (name: CheckName) => Promise<Finding | undefined> {
  const askLink = once(() => askAgent(['broker']));
  const askRest = once(async () => {
    await askLink();
    return askAgent((['backend', 'stream', 'clock'] as const).filter((name) => tells(name)));
  });
  return async (name) => {
    const diagnosis = await (name === 'broker' ? askLink() : askRest());
    return diagnosis?.checks.find(({ check }) => check === name);
  };
}
