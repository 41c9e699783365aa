import type { Bus } from '../../../../ports/bus.ts';
import type { Config } from '../../../../protocol/config.ts';
import { isExposedAddress } from '../../../../protocol/host-name.ts';
import type { DeviceTopics } from '../../../../protocol/mqtt/topics.ts';
import { deviceSubscriptions } from '../../../broker/subscriptions.ts';
import { problem } from '../../report/finding.ts';
import type { BrokerConnection } from './broker-connection.ts';
import { judgeLogin } from './login-rules.ts';

/** The running agent's connection to the broker. */
export interface LiveParts {
  readonly topics: DeviceTopics;
  bus(): Bus | null;
  /** MQTT version of the current connection. */
  protocol(): 4 | 5;
  /** Token requests that the broker refused since the start. */
  refusals(): number;
}

/** The connection that the running agent has: no second one is opened. */
export function takeLiveConnection(
  { topics, bus, protocol, refusals }: LiveParts,
  config: Config,
): BrokerConnection {
  const live = bus();
  if (live === null || !live.connected)
    return { outcome: problem('the agent has no connection to the broker', 'See its log.'), bus: null };
  const subscriptions = deviceSubscriptions(topics, config.device.groups).length;
  const clientId = `${config.device.tenant}.${config.device.id}`;
  const facts = { ok: true, protocol: protocol(), subscriptions, as: 'agent', limits: [] } as const;
  const before = refusals();
  return {
    outcome: judgeLogin(facts, {
      clientId,
      isExposed: isExposedAddress(config.mqtt.url),
      names: config.mqtt,
    }),
    bus: live,
    hasRefused: () => refusals() > before,
  };
}
