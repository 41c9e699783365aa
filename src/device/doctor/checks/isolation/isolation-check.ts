import type { MqttConnection } from '../../../../adapters/mqtt/bus.ts';
import type { Clock } from '../../../../ports/clock.ts';
import type { Config } from '../../../../protocol/config.ts';
import type { Outcome } from '../../report/finding.ts';
import type { BrokerConnection } from '../broker/broker-connection.ts';
import { tryForeignTopics } from './foreign-topics.ts';
import { type IsolationFacts, judgeIsolation, NOT_BESIDE_AGENT } from './isolation-rules.ts';

export interface IsolationParts {
  readonly config: Config;
  readonly clock: Clock;
  /** Topic level of a device that does not exist, to try foreign topics; null: they are not tried. */
  readonly absentDevice: string | null;
  /** Whether no agent runs on this machine, so that the doctor may use the device's own client identifier. */
  readonly isAgentAbsent: boolean;
}

export interface IsolationTrial {
  /** Tries topics of other devices with the device's login. */
  run(connection: MqttConnection): Promise<void>;
  /** Null: not tried, or no login worked. */
  facts(): IsolationFacts | null;
}

export function createIsolationTrial(parts: IsolationParts): IsolationTrial {
  const { config, clock, absentDevice, isAgentAbsent } = parts;
  const { tenant, id: device } = config.device;
  let facts: IsolationFacts | null = null;
  return {
    async run(connection) {
      if (absentDevice === null) return;
      const beside = { ...connection, clientId: `${connection.clientId}.doctor` };
      facts = await tryForeignTopics({
        clock,
        absentDevice,
        address: { prefix: config.mqtt.prefix, tenant, device },
        connections: isAgentAbsent ? [beside, connection] : [beside],
      });
    },
    facts: () => facts,
  };
}

/** @param tellsBroker whether the check "broker" reports a missing connection */
export function judgeTrial(
  { facts }: IsolationTrial,
  { bus, outcome, isAgentsAlone = false }: BrokerConnection,
  tellsBroker: boolean,
): Outcome {
  const tried = facts();
  if (tried === null && isAgentsAlone) return NOT_BESIDE_AGENT;
  return bus === null && !tellsBroker ? outcome : judgeIsolation(tried);
}
