import { insist, within } from '../machine/within.ts';
import type { SignatureReader } from '../ports/signature.ts';
import type { Config } from '../protocol/config.ts';
import { createBrokerUpkeep } from './broker/broker-upkeep.ts';
import { createPresence } from './broker/presence.ts';
import { createPublishRights } from './broker/publish-rights.ts';
import { type Common, createCommon } from './common.ts';
import { createRunningConfig } from './config/running-config.ts';
import type { AgentDeps } from './deps/deps.ts';
import { createBackendProbe } from './doctor/checks/backend/backend-probe.ts';
import { createDiagnose, type Diagnose } from './doctor/diagnosis.ts';
import { guardSignatures } from './guard/signed-content.ts';
import type { Help } from './help/help.ts';
import { createAcceptedTasks } from './lane/runner/accepted-tasks.ts';
import type { LaneRunner, LaneStep } from './lane/runner/lane-runner.ts';
import { createLaneSet } from './lane/runner/lane-set.ts';
import { logStep } from './lane/runner/step-log.ts';
import { type Admissions, createAdmissions } from './limits/admissions.ts';
import { createMenu, type SpokenMenu } from './menu/menu.ts';
import { createLogLevel } from './operator/log-level.ts';
import { createOperator } from './operator/operator.ts';
import { createStatusAnswer } from './operator/status-answer.ts';
import { createHealth, type Health } from './status/health-reports.ts';
import type { Publisher } from './status/publisher.ts';
import type { ConfigProblem } from './status/troubles.ts';
import { runTokens } from './tokens/tokens.ts';
import { createUpdateWatch } from './update/update-watch.ts';

/** Time limit of the whole shutdown (ms). */
const END_LIMIT_MS = 9900;

type Parts = ReturnType<typeof createParts>;

/** The device: its lanes, its features, and its connection to the owner. */
export class Agent {
  /** The running lanes; the array changes in place. */
  readonly lanes: readonly LaneRunner[];
  /** Publishes status, state and events for the owner. */
  readonly publisher: Publisher;
  readonly health: Health;
  readonly diagnose: Diagnose;
  readonly admissions: Admissions;
  private readonly common: Common;
  private readonly parts: Parts;
  private stopping: Promise<void> | null = null;

  constructor(config: Config, outside: AgentDeps) {
    this.common = createCommon(config, outside);
    this.parts = createParts(config, this.common);
    this.lanes = this.common.lanes;
    this.publisher = this.common.publisher;
    this.health = this.parts.health;
    this.diagnose = this.parts.diagnose;
    this.admissions = this.parts.admissions;
  }

  /** Connects, and starts the lanes that start at boot, each once its loudspeaker is open or the wait has timed out. */
  async start(): Promise<void> {
    const { connection, features, reports, publisher } = this.common;
    const bus = connection.open();
    reports.tellOwner((where, message) => publisher.tellDefect(where, message));
    features.begin(bus);
    // A lane starts only when it is known whether it may have a session now.
    await this.parts.laneSet.start(this.parts.running.current.lanes);
  }

  /** Calls back after every step of every lane, until the returned function is called. */
  watch(listener: (step: LaneStep) => void): () => void {
    return this.common.features.watch(listener);
  }

  /** Carries out a command from the kiosk's own screen. @throws CommandError */
  async carryOut(name: string, args: object): Promise<unknown> {
    return this.parts.operator.carryOut(name, args);
  }

  /** The call of a visitor for a member of staff. */
  get help(): Help {
    return this.parts.operator.help;
  }

  /** The spoken menu. */
  get menu(): SpokenMenu {
    return this.parts.menu;
  }

  /** An obstacle to a connection is gone: retries within seconds. */
  hasten(): void {
    this.common.connection.hasten();
  }

  /** The part of the files' configuration that is in force. */
  get configuration(): Config {
    return this.parts.running.ofFiles;
  }

  /** The text about who runs the kiosk; `config/desired` may set it. */
  get operatorText(): string {
    return this.parts.running.current.screen.operator;
  }

  /** The keys that identify the owner from now on; null: signatures are not checked. */
  trust(signatures: SignatureReader | null): void {
    const { features, defects } = this.common;
    features.trust(signatures === null ? null : guardSignatures(signatures, defects));
  }

  /** Applies all changes that a running agent allows; returns the keys that need a restart. */
  apply(next: Config): string[] {
    const stale = this.parts.running.apply(next);
    this.parts.brokerUpkeep.changed(next.mqtt);
    this.common.troubles.reread([]);
    this.publisher.condition('restart_needed', stale.length > 0, stale);
    return stale;
  }

  /** A new configuration is unusable: the present one stays in force. */
  refuse(problems: readonly ConfigProblem[]): void {
    this.common.troubles.reread(problems);
  }

  /**
   * Ends every session, publishes `offline` and frees the devices, all within 10 s. A second call joins the first.
   */
  stop(): Promise<void> {
    this.stopping ??= this.end();
    return this.stopping;
  }

  /** This order matters: whatever is still needed closes later. */
  private async end(): Promise<void> {
    const { clock, log, features, publisher, repeats, connection } = this.common;
    const endsAt = clock.now() + END_LIMIT_MS;
    publisher.end();
    // The features see the last steps of the lanes.
    await this.parts.laneSet.endSessions();
    await features.close();
    // The features report until they are closed. What they have reported waits in these two.
    repeats.close();
    publisher.finish();
    await insist(this.common, 'audio', Promise.all(this.lanes.map((lane) => lane.close())));
    await connection.close();
    // Waits until the file records which answers have reached the broker, so that the next start does not send them again.
    // A slow disk may delay this only until `endsAt`.
    await within(clock, Math.max(0, endsAt - clock.now()), features.saved());
    log.info({}, 'stopped');
  }
}

/**
 * All features. Each is made of those that it uses, so a wrong order does not compile; the order in the list does not matter
 * (src/device/features/feature.ts).
 */
function createParts(base: Config, common: Common) {
  const { deps, clock, log, repeats, topics, tokenStore, publisher, troubles, connection } = common;
  const publishRights = createPublishRights(topics, clock, publisher);
  const newTrial = (): string => `doctor-${deps.randomHash()}`;
  const trials = createBackendProbe(topics, clock, newTrial, tokenStore.hide);
  const tokens = runTokens({
    ...common,
    trials,
    seed: Math.floor(deps.random() * 2 ** 32),
    newId: deps.randomHash,
    backendChanged: (outage, before) => publisher.tellBackend(outage, before),
    mayAsk: publishRights.mayAsk,
  });
  const acceptedTasks = createAcceptedTasks(deps.taskFile ?? null, clock, log, troubles.kept('tasks'));
  const laneSet = createLaneSet({ ...common, tokens, acceptedTasks });

  const logLevel = createLogLevel(clock, base.log.level, (level) => deps.setLogLevel?.(level));
  const setLogLevel = logLevel.configure;
  const running = createRunningConfig({ ...common, base, orders: laneSet, setLogLevel });
  const config = (): Config => running.current;
  laneSet.add(running.current);

  const admissions = createAdmissions({ ...common, config });
  const updates = createUpdateWatch({ ...common, config });
  const presence = createPresence(common);
  const brokerUpkeep = createBrokerUpkeep(common);
  const health = createHealth(common);
  publisher.include({
    laneConfig: (id) => config().lanes.find((lane) => lane.id === id),
    closedUntil: admissions.closedUntil,
    budget: admissions.budget,
    update: () => updates.report,
    help: () => operator.help.call,
  });

  const diagnose = createDiagnose({
    ...common,
    trials,
    machine: deps.machine ?? null,
    config,
    refusals: () => tokens.counts.refusals,
    status: () => publisher.status(),
  });
  const operator = createOperator({
    ...common,
    config,
    logLevel,
    admissions,
    status: createStatusAnswer({ ...common, tokens }),
    diagnose: ({ only }) => diagnose.run(only ?? null),
    certificate: brokerUpkeep.certificate,
    updates: updates.commands,
    menu: (args) => menu.command(args),
    awaitedChanged: connection.judgeUrgency,
  });

  const menu = createMenu({
    ...common,
    config,
    help: operator.help,
    load: deps.loadMenuSound ?? null,
    carryOut: operator.carryOut,
  });

  common.features.join({
    'step log': { onStep: (step) => logStep({ log, repeats }, step) },
    operator,
    menu,
    tokens,
    'broker upkeep': brokerUpkeep,
    presence,
    updates,
    'accepted tasks': acceptedTasks,
    admissions,
    'publish rights': publishRights,
    publisher,
    config: running,
    health,
    'log level': logLevel,
    connection: { onStep: connection.judgeUrgency },
  });
  return { laneSet, running, admissions, diagnose, health, brokerUpkeep, operator, menu };
}
