import { randomBytes } from 'node:crypto';
import { createCardWatch } from '../adapters/audio/cards/card-watch.ts';
import {
  createCapture,
  createHeadset,
  createPlayback,
  type DriverDeps,
} from '../adapters/audio/drivers/driver.ts';
import { createLastResort } from '../adapters/audio/last-resort.ts';
import { openMenuSounds } from '../adapters/audio/recorded-speech.ts';
import { createEchoCancellers } from '../adapters/echo/canceller.ts';
import { watchHeadsetPlug } from '../adapters/headset/plug.ts';
import { createKeyDevices } from '../adapters/keys/key-device.ts';
import { createProgramRunner } from '../adapters/program-runner.ts';
import { createWebSocketStreams } from '../adapters/stream/websocket-stream.ts';
import { machineDay, machineMinute, machineTimeZone } from '../adapters/time-zone.ts';
import { createUpdates } from '../adapters/update/updates.ts';
import { loadSpeechDetector } from '../adapters/voice/speech-detector.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import { OUTPUT_RATE_HZ } from '../ports/stream.ts';
import type { Config } from '../protocol/config.ts';
import { VERSION } from '../protocol/version.ts';
import { withTalk } from '../sound/speech/talk-detector.ts';
import { brokerAccess, readableConnection, stateFile } from './broker/broker-access.ts';
import { ownerSignatures, serviceAuthority, UnusableFile } from './config/unusable-file.ts';
import type { AgentDeps } from './deps/deps.ts';
import { createMachineParts } from './doctor/machine-parts.ts';

/** Bytes of a {random_hash}: enough that no two connections share a hash. */
const HASH_BYTES = 18;

/**
 * The real ports: this machine's clock, devices, files and network.
 * @param tooEarly called when a certificate of the broker or the service is not valid yet by this machine's clock
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
  // Reads in parallel, so that a dead disk costs its timeout only once.
  const [files, access, detector] = await Promise.all([
    stateFiles(config, env, clock, log),
    brokerAccess(config, clock, log, env, tooEarly),
    loadSpeechDetector(),
  ]);
  if (detector.name !== 'fvad') {
    log.warn(
      {},
      'the voice detector fvad.wasm is not beside the program; speech is detected by loudness instead',
    );
  }
  const updates = createUpdates(env);
  const loadMenuSound = openMenuSounds(OUTPUT_RATE_HZ);
  const { unfixable } = config.audio;
  const lasting = unfixable === null ? undefined : createLastResort(unfixable, clock, log);
  const { whenCardsChange } = createCardWatch({ clock });
  const drivers = (): DriverDeps => ({
    log,
    whenCardsChange,
    seed: randomBytes(4).readInt32LE(),
    ...(lasting === undefined ? {} : { lasting }),
  });
  return {
    clock,
    log,
    version: VERSION,
    signatures: ownerSignatures(config),
    ...access,
    openStream: createWebSocketStreams({
      clock,
      tooEarly,
      ...(serviceCa === undefined ? {} : { ca: serviceCa }),
    }),
    openKeyDevice: createKeyDevices(clock),
    ...(loadMenuSound === null ? {} : { loadMenuSound }),
    createVoiceDetector: withTalk(detector.create),
    openEchoCanceller: createEchoCancellers({ clock }),
    openAudio: (lane) => ({
      openCapture: createCapture(lane.capture, clock, drivers()),
      openPlayback: createPlayback(lane.playback, OUTPUT_RATE_HZ, clock, drivers()),
      ...(lane.headset !== null && {
        openHeadset: createHeadset(lane.headset.device, OUTPUT_RATE_HZ, clock, drivers()),
        watchPlug: watchHeadsetPlug(lane.headset, {
          clock,
          run: createProgramRunner(process.env),
          whenCardsChange,
        }),
      }),
    }),
    machine: createMachineParts(env),
    ...files,
    ...(updates === null ? {} : { updates }),
    timeZone: machineTimeZone,
    machineDay,
    machineMinute,
    random: Math.random,
    randomHash: () => randomBytes(HASH_BYTES).toString('base64url'),
  };
}

/** Why the agent cannot start with the configured files; null: it can. */
export function findUnusableFile(
  config: Config,
  env: Readonly<Record<string, string | undefined>>,
): { readonly key: string; readonly message: string } | null {
  try {
    serviceAuthority(config);
    ownerSignatures(config);
    readableConnection(config, env);
    return null;
  } catch (error) {
    if (error instanceof UnusableFile) return { key: error.key, message: error.message };
    throw error;
  }
}

/** The state files, separate for each device on one machine. */
async function stateFiles(
  config: Config,
  env: Readonly<Record<string, string | undefined>>,
  clock: Clock,
  log: Log,
): Promise<Pick<AgentDeps, 'commandFile' | 'desiredFile' | 'taskFile' | 'budgetFile'>> {
  const commandFile = stateFile('commands', config, env, clock);
  const desiredFile = stateFile('desired', config, env, clock);
  const taskFile = stateFile('tasks', config, env, clock);
  const budgetFile = stateFile('budget', config, env, clock);
  if (commandFile !== null && desiredFile !== null && taskFile !== null && budgetFile !== null) {
    await Promise.all([commandFile, desiredFile, taskFile, budgetFile].map(({ opened }) => opened));
    return { commandFile, desiredFile, taskFile, budgetFile };
  }
  log.debug(
    {},
    'without STATE_DIRECTORY or HOME, commands and the desired configuration do not survive a restart',
  );
  return {};
}
