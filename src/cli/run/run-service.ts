import { randomBytes } from 'node:crypto';
import { AudioFaultError } from '../../adapters/audio/fault.ts';
import { createSystemClock } from '../../adapters/clock.ts';
import { formatProblem, problemPlace } from '../../adapters/config/layer.ts';
import { loadBrokerPart, loadConfig } from '../../adapters/config/load.ts';
import { type Logger, setLogLevel } from '../../adapters/log.ts';
import { createMqttBus } from '../../adapters/mqtt/bus.ts';
import { openNote } from '../../adapters/running-note.ts';
import { brokerConnection, stateFile } from '../../device/broker/broker-access.ts';
import { UnusableFile } from '../../device/config/unusable-file.ts';
import { runDaemon } from '../../device/daemon.ts';
import { findUnusableFile } from '../../device/machine-deps.ts';
import { awaitRepair, type RepairParts, type Unusable } from '../../device/process/repair.ts';
import type { SignalSource } from '../../device/process/signal-source.ts';
import type { InitSystem } from '../../ports/init-system.ts';
import type { Config } from '../../protocol/config.ts';
import { VERSION } from '../../protocol/version.ts';

export interface ServiceOptions {
  readonly file: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
  readonly signals: SignalSource;
  readonly initSystem: InitSystem;
}

/** Runs the agent until a signal ends it. Without a usable configuration it waits as `degraded`. */
export async function runService(options: ServiceOptions): Promise<void> {
  const { file, env, logger, signals, initSystem } = options;
  const clock = createSystemClock();
  const load = () => loadConfig({ file, env });
  const unusable = (problems: readonly string[], key: string | null, config: Config | null): Unusable => ({
    problems,
    key,
    broker: config === null ? null : brokerOf(config, options, clock),
  });
  const look = (): Unusable | null => {
    const loaded = load();
    if (!loaded.ok) {
      const [first] = loaded.problems;
      return unusable(
        loaded.problems.map(formatProblem),
        first === undefined ? null : problemPlace(first) || null,
        loadBrokerPart({ file, env }),
      );
    }
    const trouble = findUnusableFile(loaded.config, env);
    return trouble === null ? null : unusable([trouble.message], trouble.key, loaded.config);
  };
  const bootId = randomBytes(9).toString('base64url');
  const parts: RepairParts = {
    look,
    initSystem,
    clock,
    log: logger,
    signals,
    version: VERSION,
    bootId,
    note: openNote(env),
  };
  let found = look();
  for (;;) {
    if (found !== null && (await awaitRepair(found, parts)) === 'ended') return;
    const loaded = load();
    if (!loaded.ok) {
      found = look();
      continue;
    }
    const { config } = loaded;
    setLogLevel(logger, config.log.level);
    try {
      return await runDaemon({ config, reload: load, logger, signals, initSystem, env });
    } catch (error) {
      if (!(error instanceof UnusableFile || error instanceof AudioFaultError)) throw error;
      found = unusable([error.message], null, config);
    }
  }
}

function brokerOf(
  config: Config,
  options: ServiceOptions,
  clock: ReturnType<typeof createSystemClock>,
): Unusable['broker'] {
  const { mqtt, device } = config;
  const { env } = options;
  try {
    const seed = randomBytes(4).readInt32LE();
    return {
      fingerprint: JSON.stringify([device, mqtt]),
      openBus: createMqttBus(brokerConnection(config, env), { clock, seed }),
      address: { prefix: mqtt.prefix, tenant: device.tenant, device: device.id },
      groups: device.groups,
      commandFile: stateFile('commands', config, env, clock),
    };
  } catch (error) {
    if (error instanceof UnusableFile) return null;
    throw error;
  }
}
