import { watchAnnouncements } from '../adapters/audio/announcement.ts';
import { createSystemClock } from '../adapters/clock.ts';
import { formatProblem, type Problem, problemPlace } from '../adapters/config/layer.ts';
import type { LoadResult } from '../adapters/config/load.ts';
import { type Logger, setLogLevel, tapLog } from '../adapters/log.ts';
import { askServerTime } from '../adapters/network-time.ts';
import { residentTree } from '../adapters/process-memory.ts';
import { openNote } from '../adapters/running-note.ts';
import { createClockRequest } from '../adapters/systemd/clock-request.ts';
import { createHost } from '../adapters/systemd/host.ts';
import { createVitals } from '../adapters/vitals.ts';
import { timeSources } from '../core/time-sources.ts';
import { createDefects, guardClock } from '../machine/defects.ts';
import type { Clock } from '../ports/clock.ts';
import type { InitSystem } from '../ports/init-system.ts';
import type { Config } from '../protocol/config.ts';
import { VERSION } from '../protocol/version.ts';
import { Agent } from './agent.ts';
import { configWarnings } from './config/config-warning-rules.ts';
import { ownerSignatures } from './config/unusable-file.ts';
import { fileWarnings } from './doctor/checks/configuration/named-files.ts';
import { openAgentDoor } from './doctor/running-agent/agent-door.ts';
import { createMachineDeps, findUnusableFile } from './machine-deps.ts';
import { type ClockUpkeep, keepClock } from './process/clock-upkeep.ts';
import { watchMemory } from './process/memory-watch.ts';
import { observeDeps } from './process/observed-deps.ts';
import { keepRunningNote } from './process/running-note-upkeep.ts';
import type { SignalSource } from './process/signal-source.ts';
import { startWatchdog } from './process/systemd-watchdog.ts';
import type { Screen } from './screen/screen.ts';
import type { Metrics } from './status/metrics-page.ts';
import type { ConfigProblem } from './status/troubles.ts';

export interface DaemonOptions {
  readonly config: Config;
  /** Reads the configuration again, for SIGHUP. */
  readonly reload: () => LoadResult;
  readonly logger: Logger;
  readonly signals: SignalSource;
  /** The supervisor that started the program. */
  readonly initSystem: InitSystem;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Default: the machine's clock. */
  readonly clock?: Clock;
}

/**
 * Runs the agent until SIGTERM or SIGINT, and ends within 10 s after the signal.
 * @throws UnusableFile or AudioFaultError, before anything runs, if the configuration names unusable files or devices
 */
export async function runDaemon({
  config,
  reload,
  logger,
  signals,
  initSystem,
  env,
  clock: systemClock = createSystemClock(),
}: DaemonOptions): Promise<void> {
  const defects = createDefects(logger, systemClock);
  const clock = guardClock(systemClock, defects.report);
  let clockUpkeep: ClockUpkeep | null = null;
  let endInOrder = (): void => {};
  const deps = await createMachineDeps(config, clock, logger, env, () => clockUpkeep?.doubt());
  const observed = observeDeps({
    ...deps,
    defects,
    setLogLevel: (level) => setLogLevel(logger, level),
    tapLog: (level, listener) => tapLog(logger, level, listener),
    vitals: createVitals(clock),
    host: createHost(env, () => endInOrder()),
  });
  const agent = new Agent(config, observed.deps);
  const unwatchMemory = watchMemory(
    () => residentTree(process.memoryUsage.rss),
    clock,
    logger,
    (isLarge) => watchdog.large(isLarge),
  );
  const hasLoudspeaker = (): boolean => agent.lanes.some(({ state }) => !state.playbackLost);
  const ignoreAnnouncements = watchAnnouncements(env, hasLoudspeaker, (pcm) => {
    for (const lane of agent.lanes) lane.post({ type: 'announce', pcm });
  });
  const watchdog = startWatchdog({ agent, observed, initSystem, clock, log: logger });
  const noteFile = openNote(env);
  const note = keepRunningNote({ agent, observed, version: VERSION, clock, file: noteFile });
  const door = openAgentDoor(env, (only) => agent.diagnose.run(only), noteFile.written);
  clockUpkeep = careForMachineClock(config, clock, logger, env, () => agent.hasten());
  const screen = config.screen.enabled ? serveScreen(agent, config, clock, logger, deps.randomHash) : null;
  const metrics =
    config.metrics.listen === null ? null : serveMetrics(agent, config.metrics.listen, clock, logger);
  const ended = new Promise<void>((resolve, reject) => {
    const end = (): void => {
      logger.info({}, 'shutting down');
      unwatchMemory();
      ignoreAnnouncements();
      clockUpkeep?.end();
      door.close();
      watchdog.stopping();
      const sidesEnd = [screen, metrics].map((side) => side?.then((opened) => opened?.close()));
      Promise.all([agent.stop(), note.end(), ...sidesEnd]).then(() => resolve(), reject);
    };
    endInOrder = end;
    const reread = (): void => {
      watchdog.reloading();
      try {
        applyReload(agent, reload(), logger, env);
      } catch (err) {
        logger.error(
          { err },
          'a defect of the program: the configuration could not be read again; the old one stays',
        );
      }
      watchdog.reloaded();
      note.look();
    };
    signals.on('SIGTERM', end);
    signals.on('SIGINT', end);
    signals.on('SIGHUP', reread);
  });
  warn(config, logger, env);
  // A shutdown during the start does not wait for the start.
  await Promise.race([ended, agent.start().then(() => watchdog.started())]);
  await ended;
}

/** The screen's part is loaded only for a kiosk with a screen. If this fails, the kiosk still interprets. */
async function serveScreen(
  agent: Agent,
  config: Config,
  clock: Clock,
  log: Logger,
  randomHash: () => string,
): Promise<Screen | null> {
  try {
    const { openScreen } = await import('./screen/screen.ts');
    return await openScreen({ agent, config, clock, log, randomHash });
  } catch (err) {
    log.error({ err }, 'a defect of the program: the screen is not served');
    return null;
  }
}

/** Metrics are loaded only if they are switched on. If this fails, the kiosk still interprets. */
async function serveMetrics(
  agent: Agent,
  listen: string,
  clock: Clock,
  log: Logger,
): Promise<Metrics | null> {
  try {
    const { measureAgent, openMetricsPage } = await import('./status/metrics-page.ts');
    return await openMetricsPage({ listen, measure: () => measureAgent(agent), clock, log });
  } catch (err) {
    log.error({ err }, 'a defect of the program: the metrics are not served');
    return null;
  }
}

/** @param set called after a wrong clock has been corrected */
function careForMachineClock(
  { mqtt, service }: Config,
  clock: Clock,
  log: Logger,
  env: DaemonOptions['env'],
  set: () => void,
): ClockUpkeep {
  const sources = timeSources(mqtt.url, service.hosts);
  return keepClock({
    clock,
    log,
    sources,
    set,
    ask: (source) => askServerTime(source),
    request: createClockRequest(env),
  });
}

/** An invalid configuration changes nothing: the agent keeps the old one. */
function applyReload(agent: Agent, result: LoadResult, logger: Logger, env: DaemonOptions['env']): void {
  const refuse = (lines: readonly string[], problems: readonly ConfigProblem[]): void => {
    logger.error({ problems: lines }, 'the configuration has problems; the old one stays in force');
    agent.refuse(problems);
  };
  if (!result.ok) return refuse(result.problems.map(formatProblem), result.problems.map(forOwner));
  const { lanes } = result.config;
  const unusable = findUnusableFile(result.config, env);
  if (unusable !== null) return refuse([unusable.message], [unusable]);
  agent.trust(ownerSignatures(result.config));
  const stale = agent.apply(result.config);
  logger.info({ lanes: lanes.length }, 'configuration read again');
  warn(result.config, logger, env);
  if (stale.length > 0) logger.warn({ keys: stale }, 'changed keys that take effect after a restart');
}

/** An unknown key could be anything, even a password: only its place is reported. */
function forOwner(problem: Problem): ConfigProblem {
  const path = problem.holder ?? problem.path;
  return { key: problemPlace({ ...problem, path }), message: formatProblem({ ...problem, path }) };
}

/** Logs the configuration's warnings at every start and reload, so that they are not forgotten. */
function warn(config: Config, logger: Logger, env: DaemonOptions['env']): void {
  for (const { key, message, fix } of [...configWarnings(config), ...fileWarnings(config, env)])
    logger.warn({ key }, `${key} ${message}. ${fix}`);
}
