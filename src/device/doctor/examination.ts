import { randomBytes } from 'node:crypto';
import { MACHINE_FOLDERS } from '../../adapters/audio/cards/card.ts';
import { streamOf } from '../../adapters/audio/cards/kernel-cards.ts';
import { createCapture, createPlayback } from '../../adapters/audio/driver.ts';
import { formatProblem, type Problem } from '../../adapters/config/layer.ts';
import { ignoredProxy } from '../../adapters/network/ignored-proxy.ts';
import type { ReceivedStatus } from '../../fleet/device-messages.ts';
import type { Clock } from '../../ports/clock.ts';
import type { MachineParts } from '../../ports/machine.ts';
import { OUTPUT_RATE_HZ } from '../../ports/stream.ts';
import type { Config } from '../../protocol/config.ts';
import { CHECKS, type CheckName } from '../../protocol/mqtt/diagnose.ts';
import { deviceTopics } from '../../protocol/mqtt/topics.ts';
import { brokerConnection, lookAtCertificate, withCertificate } from '../broker/broker-access.ts';
import { configWarnings } from '../config/config-warning-rules.ts';
import { ownerSignatures, serviceAuthority } from '../config/unusable-file.ts';
import { guardSignatures, type SignedContentReader } from '../guard/signed-content.ts';
import { createAnswerReader, explainFault } from '../tokens/answer-reader.ts';
import { type AgentAround, agentCheck, findAgent, linkOf } from './checks/agent/agent-check.ts';
import { createBackendProbe } from './checks/backend/backend-probe.ts';
import { createBrokerConnection } from './checks/broker/broker-connection.ts';
import { judgeClock } from './checks/clock/clock-rules.ts';
import { judgeConfiguration, judgeInvalid } from './checks/configuration/configuration-rules.ts';
import { isOpenToAll, ownUser, readNamedFiles } from './checks/configuration/named-files.ts';
import { lookThroughSandbox } from './checks/configuration/sandbox-facts.ts';
import { type SoundParts, soundChecks } from './lanes-in-turn.ts';
import { machineChecks } from './machine-parts.ts';
import type { OwnCertificateFacts } from './network/certificate-rules.ts';
import { type Check, deviceCheck, once } from './report/check.ts';
import { combine, skipped } from './report/finding.ts';
import { askAgent } from './running-agent/agent-door.ts';
import { createAgentStatus } from './running-agent/agent-status.ts';
import { connectionChecks } from './servers.ts';

/** All checks of a device, whether or not its agent runs, and a way to close what they opened. */
export interface Examination {
  readonly checks: readonly Check[];
  /** The status of a running agent at the broker; null if there is none, or the broker is unreachable. */
  agentStatus(): Promise<ReceivedStatus | null>;
  close(): Promise<void>;
}

export interface ExaminationOptions {
  readonly file: string;
  readonly loaded: { ok: true; config: Config } | { ok: false; problems: readonly Problem[] };
  readonly machine: MachineParts;
  readonly clock: Clock;
  /** The selected checks; null is all. */
  readonly only: readonly CheckName[] | null;
  /** Opens no microphone and plays no tone. */
  readonly isSilent: boolean;
  readonly sound?: Pick<SoundParts, 'openCapture' | 'openPlayback'>;
}

const QUICK_MS = 5000;
/** Timeout of the agent's answer (ms), for which it requests a trial token and checks the stream's host. */
const AGENT_ANSWERS_WITHIN_MS = 35_000;
/** Time limit of the sandbox check (ms): it asks systemd, and the kernel for each file. */
const SANDBOX_MS = 30_000;
const NEED_CONFIGURATION: readonly CheckName[] = [
  'broker',
  'isolation',
  'backend',
  'stream',
  'capture',
  'playback',
];

export function createExamination(options: ExaminationOptions): Examination {
  const { file, loaded, machine, only } = options;
  const isWanted = ({ name }: Check): boolean => only === null || only.includes(name);
  const inOrder = (checks: readonly Check[], isReported = isWanted): Check[] =>
    CHECKS.flatMap((name) => checks.filter((check) => check.name === name)).filter(isReported);
  if (!loaded.ok) {
    const problems = loaded.problems.map(formatProblem);
    const checks = [
      deviceCheck('configuration', QUICK_MS, () => judgeInvalid(file, problems)),
      ...NEED_CONFIGURATION.map((name) =>
        deviceCheck(name, QUICK_MS, () => skipped('the configuration cannot be used')),
      ),
      deviceCheck('clock', QUICK_MS, () => judgeClock(options.clock.wall(), [])),
      agentCheck(findAgent(machine, file), null, async () => null),
      ...machineChecks(machine, null),
    ];
    // The configuration check explains why others are skipped, so it is always reported.
    const isReported = (check: Check): boolean => check.name === 'configuration' || isWanted(check);
    return { checks: inOrder(checks, isReported), agentStatus: async () => null, close: async () => {} };
  }
  const { config } = loaded;
  const around = findAgent(machine, file);
  const { agent, mayAgentRun } = around;
  const { checks, agentStatus, close } = connectionAndSound(options, config, around);
  return {
    checks: inOrder([
      deviceCheck('configuration', SANDBOX_MS, async () =>
        combine([
          judgeConfiguration({
            file,
            agent,
            lanes: config.lanes.length,
            files: readNamedFiles(config, machine.env),
            warnings: configWarnings(config),
            isOpenToAll: isOpenToAll(file),
            user: ownUser(),
          }),
          ...(await lookThroughSandbox(machine, file, config)),
        ]),
      ),
      agentCheck(around, config, agentStatus),
      ...checks,
      ...machineChecks(machine, config),
    ]),
    // The retained status of an agent that is not running means nothing.
    agentStatus: mayAgentRun ? agentStatus : async () => null,
    close,
  };
}

function connectionAndSound(
  { machine, clock, only, isSilent, sound }: ExaminationOptions,
  config: Config,
  around: AgentAround,
): Examination {
  const { agent, note } = around;
  const { tenant, id } = config.device;
  const topics = deviceTopics({ prefix: config.mqtt.prefix, tenant, device: id });
  const probe = createBackendProbe(topics, clock, () => `doctor-${randomBytes(9).toString('base64url')}`);
  const keys = trustedKeys(config);
  const answers = createAnswerReader({
    base: topics.base,
    signatures: keys.signatures,
    awaits: (id) => probe.awaits(id),
    deliver: (body) => void probe.receive(body),
    refused: (fault) => {
      // Answers to a running agent's requests arrive here too.
      if (fault !== 'unasked') probe.refused(explainFault(fault));
    },
  });
  const proxy = ignoredProxy(machine.env);
  const broker = createBrokerConnection({
    config,
    topics,
    clock,
    proxy,
    agent: linkOf(around, config),
    absentDevice:
      only === null || only.includes('isolation') ? `doctor-${randomBytes(6).toString('hex')}` : null,
    connection: async () => {
      keys.check();
      const connection = brokerConnection(config, machine.env);
      return withCertificate(connection, await lookAtCertificate(config, machine.env, connection, clock));
    },
    certificate: () => ownCertificate(config, machine.env, clock),
    hear: (message) => {
      if (message.topic === topics.status) status.hear(message.payload);
      if (message.topic === topics.tokenResponse) answers.receive(message.payload, message.retain);
    },
  });
  const join = once(broker.join);
  const status = createAgentStatus(clock, async () => (await join()).bus !== null);
  const lane = config.lanes[0]?.id ?? 'main';
  const wants = (name: CheckName): boolean => only === null || only.includes(name);
  const connection = connectionChecks({
    clock,
    topics,
    probe,
    lane,
    join,
    proxy,
    askAgent: async (only) =>
      agent === null
        ? null
        : askAgent(
            { proc: machine.kernel.proc, pid: agent, env: machine.env },
            only,
            AGENT_ANSWERS_WITHIN_MS,
          ),
    hosts: config.service.hosts,
    serviceCa: () => serviceAuthority(config),
    tells: wants,
  });
  if (isSilent) {
    const silent = (['capture', 'playback'] as const).map((name) =>
      deviceCheck(name, QUICK_MS, () => skipped('left out by --no-sound')),
    );
    return { checks: [...connection, ...silent], agentStatus: status.ask, close: broker.close };
  }
  const heard = soundChecks(
    {
      clock,
      openCapture: ({ capture }) => createCapture(capture, clock),
      openPlayback: ({ playback }) => createPlayback(playback, OUTPUT_RATE_HZ, clock),
      holdersOf: (device, direction) => streamOf(device, direction, MACHINE_FOLDERS)?.holders ?? [],
      ...sound,
      agent,
      agentStatus: async () => note ?? (await status.ask()),
      plays: wants('playback'),
    },
    config,
  );
  const needsSound = wants('capture') || wants('playback');
  return {
    checks: [...connection, ...(needsSound ? heard.checks : [])],
    agentStatus: status.ask,
    async close() {
      await Promise.allSettled([broker.close(), heard.close()]);
    },
  };
}

async function ownCertificate(
  config: Config,
  env: MachineParts['env'],
  clock: Clock,
): Promise<OwnCertificateFacts | null> {
  const certificate = await lookAtCertificate(config, env, brokerConnection(config, env), clock);
  if (certificate === null) return null;
  const { present, isRenewed, request } = certificate;
  return { validTo: present.validTo, isRenewed, isAsked: request !== null };
}

/** The owner's keys; an unusable file is reported by the check that needs it. */
function trustedKeys(config: Config): { signatures: SignedContentReader | null; check(): void } {
  try {
    const reader = ownerSignatures(config);
    return { signatures: reader === null ? null : guardSignatures(reader, () => {}), check: () => {} };
  } catch (error) {
    const check = (): void => {
      throw error;
    };
    return { signatures: null, check };
  }
}
