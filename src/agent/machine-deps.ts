import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createCardWatch } from '../adapters/audio/cards/card-watch.ts';
import { createCapture, createPlayback, type DriverDeps } from '../adapters/audio/driver.ts';
import { createLastResort } from '../adapters/audio/last-resort.ts';
import {
  type OpenedCertificate,
  openDeviceCertificate,
} from '../adapters/certificates/device-certificate.ts';
import { readPem, UnreadablePem } from '../adapters/config/pem.ts';
import { readPassword, readSecret, type SecretResult } from '../adapters/config/secret.ts';
import { createEchoCancellers } from '../adapters/echo/canceller.ts';
import { createMqttBus, type MqttConnection } from '../adapters/mqtt/bus.ts';
import { KeyError, readPublicKey } from '../adapters/signing/keys.ts';
import { createSignatureReader } from '../adapters/signing/reader.ts';
import { createStateFile, stateDirectory } from '../adapters/state-file.ts';
import { createWebSocketStreams } from '../adapters/stream/websocket-stream.ts';
import { loadSpeechDetector } from '../adapters/voice/speech-detector.ts';
import { withTalk } from '../core/speech/talk-detector.ts';
import { OUTPUT_RATE_HZ } from '../core/task.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { SignatureReader } from '../ports/signature.ts';
import type { StateFile } from '../ports/state-file.ts';
import type { Config } from '../protocol/config.ts';
import { clientId } from '../protocol/mqtt/topics.ts';
import { VERSION } from '../protocol/version.ts';
import type { AgentDeps } from './deps.ts';
import { createMachineParts } from './doctor/machine-checks.ts';

/** A file that the configuration names and that can't be used. The message names the key, the file and the fix. */
export class UnusableFile extends Error {}

/** Bytes of a {random_hash}: enough that no two connections ever share one. */
const HASH_BYTES = 18;

/**
 * The real world: this machine's clock, devices, files and network.
 * @param tooEarly told when a certificate of the broker or the service is not valid yet by this machine's clock
 * @throws UnusableFile for certificates and keys that can't be read
 */
export async function createMachineDeps(
  config: Config,
  clock: Clock,
  log: Log,
  env: Readonly<Record<string, string | undefined>>,
  tooEarly: () => void = () => {},
): Promise<AgentDeps> {
  const serviceCa = serviceAuthority(config);
  const detector = await loadSpeechDetector();
  if (detector.name !== 'fvad') {
    log.warn(
      {},
      'the voice detector fvad.wasm is not beside the program; speech is told by its loudness instead',
    );
  }
  const { unfixable } = config.audio;
  const lasting = unfixable === null ? undefined : createLastResort(unfixable, clock, log);
  const { whenCardsChange } = createCardWatch({ clock });
  const drivers = (): DriverDeps => ({
    ...{ log, whenCardsChange, seed: randomBytes(4).readInt32LE() },
    ...(lasting === undefined ? {} : { lasting }),
  });
  return {
    clock,
    log,
    version: VERSION,
    signatures: ownerSignatures(config),
    ...brokerAccess(config, clock, log, env, tooEarly),
    openStream: createWebSocketStreams({
      clock,
      tooEarly,
      ...(serviceCa === undefined ? {} : { ca: serviceCa }),
    }),
    createVoiceDetector: withTalk(detector.create),
    openEchoCanceller: createEchoCancellers({ clock }),
    openAudio: (lane) => ({
      openCapture: createCapture(lane.capture, clock, drivers()),
      openPlayback: createPlayback(lane.playback, OUTPUT_RATE_HZ, clock, drivers()),
    }),
    machine: createMachineParts(env),
    ...stateFiles(config, env, log),
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    random: Math.random,
    randomHash: () => randomBytes(HASH_BYTES).toString('base64url'),
  };
}

/** Why the agent can't be started with the files that a configuration names; null: it can. */
export function findUnusableFile(
  config: Config,
  env: Readonly<Record<string, string | undefined>>,
): { readonly key: string; readonly message: string } | null {
  try {
    serviceAuthority(config);
    ownerSignatures(config);
    brokerConnection(config, env);
    return null;
  } catch (error) {
    if (error instanceof UnusableFile) {
      const [key = ''] = error.message.split(':');
      return { key, message: error.message };
    }
    throw error;
  }
}

/** What outlives the program, apart for each device on one machine. */
export function stateFiles(
  config: Config,
  env: Readonly<Record<string, string | undefined>>,
  log: Log,
): Pick<AgentDeps, 'commandFile' | 'desiredFile' | 'budgetFile'> {
  const commandFile = stateFile('commands', config, env);
  const desiredFile = stateFile('desired', config, env);
  const budgetFile = stateFile('budget', config, env);
  if (commandFile !== null && desiredFile !== null && budgetFile !== null)
    return { commandFile, desiredFile, budgetFile };
  log.debug(
    {},
    'without STATE_DIRECTORY or HOME, commands and what is desired are not remembered over a restart',
  );
  return {};
}

/** Null where nothing outlives the program. */
function stateFile(
  name: string,
  { device }: Config,
  env: Readonly<Record<string, string | undefined>>,
): StateFile | null {
  const directory = stateDirectory(env);
  return directory === null
    ? null
    : createStateFile(join(directory, `${name}.${device.tenant}.${device.id}.json`));
}

/** The line to the broker, and the certificate that it shows, which the agent renews. @throws UnusableFile */
function brokerAccess(
  config: Config,
  clock: Clock,
  log: Log,
  env: Readonly<Record<string, string | undefined>>,
  tooEarly: () => void,
): Pick<AgentDeps, 'openBus' | 'certificate'> {
  let connection = brokerConnection(config, env);
  /** Its files may have changed: another authority comes without a restart. */
  const read = (): MqttConnection => {
    try {
      connection = brokerConnection(config, env);
    } catch (error) {
      if (!(error instanceof UnusableFile)) throw error;
      log.warn({ reason: error.message }, 'a file for the broker cannot be read; what was read last is used');
    }
    return connection;
  };
  const certificate = deviceCertificate(config, env, connection, () => connection);
  if (certificate === null && connection.cert !== undefined)
    log.warn(
      {},
      'the client certificate cannot be renewed: it cannot be read, or there is no STATE_DIRECTORY',
    );
  return {
    ...(certificate !== null && { certificate }),
    openBus: createMqttBus(() => withCertificate(read(), certificate), {
      ...{ clock, tooEarly, seed: randomBytes(4).readInt32LE() },
    }),
  };
}

/** What the device shows to its broker, with what it was renewed to; null where it has none, or where nothing is kept. */
export function deviceCertificate(
  config: Config,
  env: Readonly<Record<string, string | undefined>>,
  connection: MqttConnection,
  latest: () => MqttConnection = () => connection,
): OpenedCertificate | null {
  const { cert, key, clientId: name } = connection;
  const file = stateFile('certificate', config, env);
  if (cert === undefined || key === undefined || file === null) return null;
  const configured = { certificate: cert.toString('utf8'), key: key.toString('utf8') };
  const authorities = (): string => latest().ca?.toString('utf8') ?? '';
  return openDeviceCertificate({ configured, name, file, authorities });
}

/** Where systemd keeps the agent's files, for whoever looks at them from outside. */
const SERVICE_STATE = '/var/lib/dragoman';

/**
 * The same for somebody who only looks: beside the agent of a service, whose folder is not this program's.
 * @param env of this program
 */
export function lookAtCertificate(
  config: Config,
  env: Readonly<Record<string, string | undefined>>,
  connection: MqttConnection,
): OpenedCertificate | null {
  const own = deviceCertificate(config, env, connection);
  if (env['STATE_DIRECTORY'] !== undefined) return own;
  const kept = deviceCertificate(config, { STATE_DIRECTORY: SERVICE_STATE }, connection);
  return kept?.isKept === true ? kept : (own ?? kept);
}

/** A connection with the certificate that is in force now. */
export function withCertificate(
  connection: MqttConnection,
  certificate: OpenedCertificate | null,
): MqttConnection {
  if (certificate === null) return connection;
  const pair = certificate.pair();
  return { ...connection, cert: Buffer.from(pair.certificate), key: Buffer.from(pair.key) };
}

/** Checks what the owner has signed; null where the configuration names no keys. @throws UnusableFile */
export function ownerSignatures({ owner }: Config): SignatureReader | null {
  if (owner.publicKeyFiles.length === 0) return null;
  const keys = owner.publicKeyFiles.map((file, index) => {
    try {
      return readPublicKey(file);
    } catch (error) {
      if (!(error instanceof KeyError)) throw error;
      throw new UnusableFile(`owner.publicKeyFiles[${index}]: ${error.message}`);
    }
  });
  return createSignatureReader(keys);
}

/** PEM of the service's authority; undefined where the system's count. @throws UnusableFile */
export function serviceAuthority({ service: { caFile } }: Config): Buffer | undefined {
  return caFile === null ? undefined : pemOrThrow('service.caFile', caFile);
}

/** How the device connects to its broker. @throws UnusableFile, from `password` too */
export function brokerConnection(
  { mqtt, device }: Config,
  env: Readonly<Record<string, string | undefined>>,
): MqttConnection {
  const { url, username, passwordFile, caFile, certFile, keyFile } = mqtt;
  return {
    url,
    clientId: clientId({ prefix: mqtt.prefix, tenant: device.tenant, device: device.id }),
    ...(username === null ? {} : { username }),
    ...(passwordFile === null
      ? {}
      : { password: () => secretOrThrow('mqtt.passwordFile', readPassword(passwordFile, env)) }),
    ...(caFile === null ? {} : { ca: pemOrThrow('mqtt.caFile', caFile) }),
    ...(certFile === null ? {} : { cert: pemOrThrow('mqtt.certFile', certFile) }),
    ...(keyFile === null
      ? {}
      : { key: Buffer.from(secretOrThrow('mqtt.keyFile', readSecret(keyFile, env))) }),
  };
}

function secretOrThrow(key: string, read: SecretResult): string {
  if (!read.ok) throw new UnusableFile(`${key}: ${read.message}`);
  return read.secret;
}

function pemOrThrow(key: string, file: string): Buffer {
  try {
    return readPem(key, file);
  } catch (error) {
    if (error instanceof UnreadablePem) throw new UnusableFile(error.message);
    throw error;
  }
}
