import { randomBytes } from 'node:crypto';
import { MACHINE_FOLDERS } from '../../adapters/audio/cards/card.ts';
import { streamOf } from '../../adapters/audio/cards/kernel-cards.ts';
import { createCapture, createPlayback } from '../../adapters/audio/drivers/driver.ts';
import { formatProblem, type Problem } from '../../adapters/config/layer.ts';
import { ignoredProxy } from '../../adapters/network/ignored-proxy.ts';
import type { ReceivedStatus } from '../../fleet/device-messages.ts';
import type { Clock } from '../../ports/clock.ts';
import type { MachineParts } from '../../ports/machine.ts';
import { OUTPUT_RATE_HZ } from '../../ports/stream.ts';
import type { Config } from '../../protocol/config.ts';
import type { CheckName } from '../../protocol/mqtt/diagnose.ts';
import { deviceTopics } from '../../protocol/mqtt/topics.ts';
import { brokerConnection, lookAtCertificate, withCertificate } from '../broker/broker-access.ts';
import { serviceAuthority } from '../config/unusable-file.ts';
import { createTrustedProbe } from './checks/backend/trusted-probe.ts';
import { linkOf } from './checks/broker/agent-link.ts';
import { type BrokerConnectionParts, createBrokerConnection } from './checks/broker/broker-connection.ts';
import { readOwnCertificate } from './checks/broker/own-certificate-facts.ts';
import { createIsolationTrial, type IsolationTrial } from './checks/isolation/isolation-check.ts';
import { createLanesInTurn, type LanesInTurn, type SoundParts } from './lanes-in-turn.ts';
import { about, type LaneOutcome } from './report/check.ts';
import { skipped } from './report/finding.ts';
import { type AgentAround, findAgent } from './running-agent/agent-around.ts';
import { askAgent } from './running-agent/agent-door.ts';
import { type AgentStatus, createAgentStatus } from './running-agent/agent-status.ts';
import { createServers, type Servers, type ServersParts } from './servers.ts';

export interface OutsideParts {
  readonly file: string;
  readonly loaded: { ok: true; config: Config } | { ok: false; problems: readonly Problem[] };
  readonly machine: MachineParts;
  readonly clock: Clock;
  /** Opens no microphone and plays no tone. */
  readonly isSilent: boolean;
  readonly sound?: Pick<SoundParts, 'openCapture' | 'openPlayback'>;
  /** Whether a check is reported. */
  tells(name: CheckName): boolean;
}

/** What the checks know from outside the agent, whether or not it runs: the machine, and connections of their own. */
export interface Outside {
  readonly file: string;
  readonly machine: MachineParts;
  readonly clock: Clock;
  readonly around: AgentAround;
  /** The problems of the configuration, one line each; none if it can be used. */
  readonly problems: readonly string[];
  /** Null: the configuration cannot be used. */
  readonly configured: Configured | null;
  tells(name: CheckName): boolean;
}

/** What needs a configuration. Nothing is opened before a check asks for it. */
export interface Configured {
  readonly config: Config;
  readonly servers: Servers;
  readonly isolation: IsolationTrial;
  readonly sound: LanesInTurn;
  /** The status of a running agent at the broker; null: none came. */
  askStatus(): Promise<ReceivedStatus | null>;
  close(): Promise<void>;
}

/** Timeout of the agent's answer (ms), for which it requests a trial token and checks the stream's host. */
const AGENT_ANSWERS_WITHIN_MS = 35_000;

export function createOutside(parts: OutsideParts): Outside {
  const { file, loaded, machine, clock, tells } = parts;
  const around = findAgent(machine, file);
  return {
    file,
    machine,
    clock,
    around,
    tells,
    problems: loaded.ok ? [] : loaded.problems.map(formatProblem),
    configured: loaded.ok ? openConfigured(parts, loaded.config, around) : null,
  };
}

function openConfigured(parts: OutsideParts, config: Config, around: AgentAround): Configured {
  const { clock, tells } = parts;
  const { tenant, id } = config.device;
  const topics = deviceTopics({ prefix: config.mqtt.prefix, tenant, device: id });
  const trusted = createTrustedProbe(config, topics, clock);
  const status = createAgentStatus(clock, async () => (await servers.join()).bus !== null);
  const agent = linkOf(around, config);
  const isolation = createIsolationTrial({
    config,
    clock,
    absentDevice: tells('isolation') ? `doctor-${randomBytes(6).toString('hex')}` : null,
    isAgentAbsent: agent === 'absent',
  });
  const broker = createBrokerConnection({
    config,
    topics,
    clock,
    proxy: ignoredProxy(parts.machine.env),
    agent,
    ...accessOf(config, parts, trusted.checkKeys),
    beforeLogin: isolation.run,
    hear: (message) => {
      if (message.topic === topics.status) status.hear(message.payload);
      if (message.topic === topics.tokenResponse) trusted.hear(message);
    },
  });
  const link = { topics, probe: trusted.probe, join: broker.join };
  const servers = findServers(link, parts, config, around);
  const sound = openSound(parts, config, around, status);
  const close = async (): Promise<void> => {
    await Promise.allSettled([broker.close(), sound.close()]);
  };
  return { config, servers, isolation, sound, askStatus: status.ask, close };
}

function findServers(
  link: Pick<ServersParts, 'topics' | 'probe' | 'join'>,
  { machine, clock, tells }: OutsideParts,
  config: Config,
  around: AgentAround,
): Servers {
  return createServers({
    ...link,
    clock,
    lane: config.lanes[0]?.id ?? 'main',
    proxy: ignoredProxy(machine.env),
    askAgent: async (only) => askRunning(around, machine, only),
    hosts: config.service.hosts,
    serviceCa: () => serviceAuthority(config),
    tells,
  });
}

/** What the agent would use to log in. */
function accessOf(
  config: Config,
  { machine: { env }, clock }: OutsideParts,
  checkKeys: () => void,
): Pick<BrokerConnectionParts, 'connection' | 'certificate'> {
  return {
    async connection() {
      checkKeys();
      const connection = brokerConnection(config, env);
      return withCertificate(connection, await lookAtCertificate(config, env, connection, clock));
    },
    certificate: () => readOwnCertificate(config, env, clock),
  };
}

async function askRunning({ agent }: AgentAround, { kernel, env }: MachineParts, only: readonly CheckName[]) {
  return agent === null
    ? null
    : askAgent({ proc: kernel.proc, pid: agent, env }, only, AGENT_ANSWERS_WITHIN_MS);
}

const leftOut = async (): Promise<LaneOutcome[]> => [about(null, skipped('left out by --no-sound'))];

function openSound(
  { clock, isSilent, sound, tells }: OutsideParts,
  config: Config,
  { agent, note }: AgentAround,
  status: AgentStatus,
): LanesInTurn {
  if (isSilent) return { capture: leftOut, playback: leftOut, close: async () => {} };
  const parts: SoundParts = {
    clock,
    openCapture: ({ capture }) => createCapture(capture, clock),
    openPlayback: ({ playback }) => createPlayback(playback, OUTPUT_RATE_HZ, clock),
    holdersOf: (device, direction) => streamOf(device, direction, MACHINE_FOLDERS)?.holders ?? [],
    ...sound,
    agent,
    agentStatus: async () => note ?? (await status.ask()),
    plays: tells('playback'),
  };
  return createLanesInTurn(parts, config);
}
