import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import {
  type OpenedCertificate,
  openDeviceCertificate,
} from '../../adapters/certificates/device-certificate.ts';
import { ownCertificateFault, pairFault, privateKeyFault } from '../../adapters/config/pem.ts';
import { readPassword, readSecret, type SecretResult } from '../../adapters/config/secret.ts';
import { createMqttBus, type MqttConnection } from '../../adapters/mqtt/bus.ts';
import { createVersionMemory } from '../../adapters/mqtt/version-memory.ts';
import { agentStateFolder, type OpenedStateFile, openStateFile } from '../../adapters/state-file.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Config } from '../../protocol/config.ts';
import { clientId } from '../../protocol/mqtt/topics.ts';
import { certificatesOrThrow, UnusableFile } from '../config/unusable-file.ts';
import type { AgentDeps } from '../deps/deps.ts';
import { createBrokers } from './broker-choice.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** A state file of the device; null without a state folder. */
export function stateFile(
  name: string,
  { device }: Config,
  env: Environment,
  clock: Clock,
): OpenedStateFile | null {
  const directory = agentStateFolder(env);
  return directory === null
    ? null
    : openStateFile(join(directory, `${name}.${device.tenant}.${device.id}.json`), clock);
}

/** The connection to the broker, the choice of the broker, and the client certificate. @throws UnusableFile */
export async function brokerAccess(
  config: Config,
  clock: Clock,
  log: Log,
  env: Environment,
  tooEarly: () => void,
): Promise<Pick<AgentDeps, 'openBus' | 'certificate' | 'brokers'>> {
  const connection = readableConnection(config, env);
  const brokers = createBrokers({
    mqtt: config.mqtt,
    connect: (mqtt) => brokerConnection({ ...config, mqtt }, env),
    /** Files are read anew for each connection, so that a new certificate authority takes effect without a restart. */
    unreadable(error) {
      if (!(error instanceof UnusableFile)) throw error;
      log.warn(
        { reason: error.message },
        'cannot read a file for the broker; the contents read before are used',
      );
      return { key: error.key, message: error.message };
    },
  });
  const latest = (): MqttConnection => brokers.connection('configured');
  const certificate = await deviceCertificate(config, env, connection, clock, latest);
  if (certificate === null && connection.cert !== undefined)
    log.warn({}, 'the client certificate cannot be renewed: it is unreadable, or STATE_DIRECTORY is not set');
  if (certificate != null && certificate.unread !== null)
    log.warn(
      { file: certificate.file, reason: certificate.unread },
      'the renewed client certificate cannot be read; the configured one is used',
    );
  const versions = stateFile('broker-versions', config, env, clock);
  await versions?.opened;
  return {
    ...(certificate !== null && { certificate }),
    brokers,
    openBus: createMqttBus(() => withCertificate(brokers.connection('present'), certificate), {
      clock,
      tooEarly,
      versions: createVersionMemory(versions),
      seed: randomBytes(4).readInt32LE(),
      other: () => withCertificate(brokers.connection('configured'), certificate),
    }),
  };
}

/** The client certificate with its renewals; null if the device has none, or there is no state folder. */
export async function deviceCertificate(
  config: Config,
  env: Environment,
  connection: MqttConnection,
  clock: Clock,
  latest: () => MqttConnection = () => connection,
): Promise<OpenedCertificate | null> {
  const { cert, key, clientId: name } = connection;
  const file = stateFile('certificate', config, env, clock);
  if (cert === undefined || key === undefined || file === null) return null;
  await file.opened;
  const configured = { certificate: cert.toString('utf8'), key: key.toString('utf8') };
  const authorities = (): string => latest().ca?.toString('utf8') ?? '';
  return openDeviceCertificate({ configured, name, file, authorities });
}

/** The state folder of the agent's systemd unit, for programs that run beside it. */
const SERVICE_STATE = '/var/lib/dragoman';

/**
 * The client certificate with its renewals, read-only: for a program beside the agent's unit that does not share its state
 * folder.
 * @param env of this program
 */
export async function lookAtCertificate(
  config: Config,
  env: Environment,
  connection: MqttConnection,
  clock: Clock,
): Promise<OpenedCertificate | null> {
  const own = await deviceCertificate(config, env, connection, clock);
  if (env['STATE_DIRECTORY'] !== undefined) return own;
  const kept = await deviceCertificate(config, { STATE_DIRECTORY: SERVICE_STATE }, connection, clock);
  return kept?.isKept === true ? kept : (own ?? kept);
}

/** A connection with the certificate in force. */
export function withCertificate(
  connection: MqttConnection,
  certificate: OpenedCertificate | null,
): MqttConnection {
  if (certificate === null) return connection;
  // A connection with another login does not use the certificate.
  if (connection.cert === undefined || !certificate.isOf(connection.cert.toString('utf8'))) {
    certificate.hide();
    return connection;
  }
  const pair = certificate.pair();
  return { ...connection, cert: Buffer.from(pair.certificate), key: Buffer.from(pair.key) };
}

/** `brokerConnection` after a check that every named file is readable. @throws UnusableFile */
export function readableConnection(config: Config, env: Environment): MqttConnection {
  const connection = brokerConnection(config, env);
  connection.password?.();
  return connection;
}

/** The parameters of the connection to the broker. @throws UnusableFile, from `password` too */
export function brokerConnection({ mqtt, device }: Config, env: Environment): MqttConnection {
  const { url, username, passwordFile, caFile, certFile, keyFile, version } = mqtt;
  return {
    url,
    version,
    clientId: clientId({ prefix: mqtt.prefix, tenant: device.tenant, device: device.id }),
    ...(username === null ? {} : { username }),
    ...(passwordFile === null
      ? {}
      : { password: () => secretOrThrow('mqtt.passwordFile', readPassword(passwordFile, env)) }),
    ...(caFile === null ? {} : { ca: certificatesOrThrow('mqtt.caFile', caFile) }),
    ...(certFile === null || keyFile === null ? {} : clientPair(certFile, keyFile, env)),
  };
}

/** Certificate and key that identify the device. @throws UnusableFile */
function clientPair(certFile: string, keyFile: string, env: Environment): { cert: Buffer; key: Buffer } {
  const cert = certificatesOrThrow('mqtt.certFile', certFile, ownCertificateFault);
  const key = secretOrThrow('mqtt.keyFile', readSecret(keyFile, env));
  const fault = privateKeyFault(key) ?? pairFault(cert.toString('latin1'), key);
  if (fault !== null) throw new UnusableFile(`mqtt.keyFile: the file ${keyFile} ${fault}`);
  return { cert, key: Buffer.from(key) };
}

function secretOrThrow(key: string, read: SecretResult): string {
  if (!read.ok) throw new UnusableFile(`${key}: ${read.message}`);
  return read.secret;
}
