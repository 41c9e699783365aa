import type { MqttConnection } from '../../../../adapters/mqtt/bus.ts';
import type { Bus, BusMessage } from '../../../../ports/bus.ts';
import type { Clock } from '../../../../ports/clock.ts';
import type { Config } from '../../../../protocol/config.ts';
import { isExposedAddress } from '../../../../protocol/host-name.ts';
import type { DeviceTopics } from '../../../../protocol/mqtt/topics.ts';
import { deviceSubscriptions, keptSession } from '../../../broker/subscriptions.ts';
import { logIn } from '../../network/broker-login.ts';
import { reach, STEP_LIMIT_MS, serverOf } from '../../network/reach.ts';
import { judgeReach } from '../../network/reach-rules.ts';
import { combine, type Outcome, problem } from '../../report/finding.ts';
import { type AgentLink, isAgentsAlone, judgeLogin, type LoginFacts } from './login-rules.ts';
import { judgeOwnCertificate, type OwnCertificateFacts } from './own-certificate-rules.ts';

const LOGIN_LIMIT_MS = 12_000;

/** A connection to the broker, or why there is none. */
export interface BrokerConnection {
  readonly outcome: Outcome;
  readonly bus: Bus | null;
  /** Whether the broker has refused a message; absent if unknown. */
  readonly hasRefused?: () => boolean;
  /** The broker has refused the doctor's own login, while an agent may be running with the device's login. */
  readonly isAgentsAlone?: boolean;
}

export interface BrokerConnectionParts {
  readonly config: Config;
  readonly topics: DeviceTopics;
  readonly clock: Clock;
  /**
   * Connects as the agent does.
   * @throws with a message for an operator if one of its files is unusable
   */
  connection(): Promise<MqttConnection>;
  /** Null: no readable certificate. */
  certificate(): Promise<OwnCertificateFacts | null>;
  /** Whether an agent runs on this machine, and is connected. */
  readonly agent: AgentLink;
  hear(message: BusMessage): void;
  /** Name of the environment variable that sets a proxy, which the agent ignores; null: not set. */
  readonly proxy?: string | null;
  /** Runs before the login that stays open: the broker may allow only one client with this name. */
  beforeLogin(connection: MqttConnection): Promise<void>;
}

/**
 * Connects to the broker step by step, beside a running agent and never in its place: a second client with the
 * device's identifier would disconnect the agent. The doctor therefore has its own identifier, and tries the device's
 * only if no agent is running and the broker refuses the doctor's.
 */
export function createBrokerConnection(parts: BrokerConnectionParts): {
  join(): Promise<BrokerConnection>;
  close(): Promise<void>;
} {
  let opened: Bus | null = null;
  return {
    async join() {
      let connection: MqttConnection;
      try {
        connection = await parts.connection();
      } catch (error) {
        const why = error instanceof Error ? error.message : 'unknown reason';
        return { outcome: problem(why, 'Fix the configuration first.'), bus: null };
      }
      const reached = await reachBroker(connection, parts);
      if (reached.verdict === 'problem') return { outcome: reached, bus: null };
      await parts.beforeLogin(connection);
      const { facts, bus, hasRefused } = await login(connection, parts);
      opened = bus;
      return {
        outcome: combine([reached, ...(await judgeLoggedIn(facts, connection.clientId, parts))]),
        bus,
        hasRefused,
        isAgentsAlone: isAgentsAlone(facts, parts.config.mqtt),
      };
    },
    async close() {
      await opened?.close();
    },
  };
}

async function reachBroker(
  { url, ca, cert, key }: MqttConnection,
  { clock, proxy = null }: BrokerConnectionParts,
): Promise<Outcome> {
  const tls = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
  const facts = await reach(serverOf(url, tls), STEP_LIMIT_MS, clock);
  return judgeReach(facts, {
    who: 'the broker',
    addressFrom: 'mqtt.url',
    caKey: 'mqtt.caFile',
    wall: clock.wall(),
    proxy,
  });
}

async function judgeLoggedIn(
  facts: LoginFacts,
  clientId: string,
  { config, clock, certificate }: BrokerConnectionParts,
): Promise<Outcome[]> {
  const own = await certificate();
  return [
    ...(own === null ? [] : [judgeOwnCertificate(own, clock.wall())]),
    judgeLogin(facts, { clientId, isExposed: isExposedAddress(config.mqtt.url), names: config.mqtt }),
  ];
}

/** How long the broker keeps the session under the doctor's own client identifier (s, MQTT 5): as short as possible. */
const KEPT_S = 1;

/** Logs in as the agent does: with its session, its subscriptions and a will on its status. */
async function login(
  connection: MqttConnection,
  { config, topics, clock, agent, hear }: BrokerConnectionParts,
): Promise<{ facts: LoginFacts; bus: Bus | null; hasRefused: () => boolean }> {
  const kept = keptSession(topics, config.device.groups);
  const needed = deviceSubscriptions(topics, config.device.groups);
  const subscriptions = kept.subscriptions.map((one) => ({
    ...one,
    mayBeRefused: !needed.includes(one.filter),
  }));
  // Published only if the doctor is killed. Deliberately invalid: a running agent overwrites it without suspecting another device.
  const will = (): { topic: string; payload: string } => ({ topic: topics.status, payload: '{}' });
  const beside = { ...connection, clientId: `${connection.clientId}.doctor` };
  const as = (name: 'doctor' | 'device') =>
    logIn({
      connection: name === 'doctor' ? beside : connection,
      session: { ...kept, ...(name === 'doctor' && { keptForS: KEPT_S }), subscriptions, will },
      clock,
      limitMs: LOGIN_LIMIT_MS,
      hear(message) {
        // The device's session holds its operators' commands: left unacknowledged, they wait for the agent. A broker that
        // uses the user name as the identifier may give the doctor that session, too.
        message.hold?.();
        hear(message);
      },
    });
  let name: 'doctor' | 'device' = 'doctor';
  let outcome = await as(name);
  // A second client with this identifier would disconnect an agent, so this needs proof that no agent is running.
  if (!outcome.ok && outcome.refused && agent === 'absent') {
    name = 'device';
    outcome = await as(name);
  }
  if (outcome.ok) {
    const { protocol, limits, bus, hasRefused } = outcome;
    const facts = { ok: true, protocol, limits, subscriptions: needed.length, as: name } as const;
    return { facts, bus, hasRefused };
  }
  const { refused, message, code } = outcome;
  return { facts: { ok: false, refused, message, code, agent }, bus: null, hasRefused: () => false };
}
