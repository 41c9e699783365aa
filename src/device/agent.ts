import { attempt, type DefectReports, type Defects } from '../machine/defects.ts';
import { createEventLoop, type EventLoop } from '../machine/event-loop.ts';
import { createRepeatFilter, type RepeatFilter } from '../machine/repeat-filter.ts';
import { createRunner, type Runner } from '../machine/runner.ts';
import { insist, within } from '../machine/within.ts';
import type { Bus } from '../ports/bus.ts';
import type { SignatureReader } from '../ports/signature.ts';
import type { Config, LaneConfig } from '../protocol/config.ts';
import { type DeviceAddress, type DeviceTopics, deviceTopics } from '../protocol/mqtt/topics.ts';
import { type BrokerUpkeep, createBrokerUpkeep } from './broker/broker-upkeep.ts';
import { openOwnerConnection } from './broker/owner-connection.ts';
import { createPresence, type Presence } from './broker/presence.ts';
import { createPublishRights, type PublishRights } from './broker/publish-rights.ts';
import { createRunningConfig, type RunningConfig } from './config/running-config.ts';
import type { AgentDeps } from './deps/deps.ts';
import { createDiagnose, type Diagnose } from './doctor/diagnosis.ts';
import { type GuardedDeps, guardDeps } from './guard/guarded-deps.ts';
import { guardSignatures } from './guard/signed-content.ts';
import { type AcceptedTasks, createAcceptedTasks } from './lane/runner/accepted-tasks.ts';
import type { LaneRunner, LaneStep } from './lane/runner/lane-runner.ts';
import { createLaneSet, type LaneSet } from './lane/runner/lane-set.ts';
import { logStep } from './lane/runner/step-log.ts';
import { type Admissions, createAdmissions } from './limits/admissions.ts';
import { createOperator, type Operator } from './operator/operator.ts';
import { createStatusAnswer } from './operator/status-answer.ts';
import { createHealth, type Health } from './status/health-reports.ts';
import { Publisher } from './status/publisher.ts';
import { type ConfigProblem, createTroubles, type Troubles } from './status/troubles.ts';
import type { Outage } from './tokens/backend-watch-rules.ts';
import { createTokenStore, type TokenStore } from './tokens/token-store.ts';
import { type RunningTokens, runTokens } from './tokens/tokens.ts';
import { createUpdateWatch, type UpdateWatch } from './update/update-watch.ts';

/** Time limit of the whole shutdown (ms). */
const END_LIMIT_MS = 9900;

/** The device: its lanes, its connection to the owner, and the wiring between them. */
export class Agent {
  /** The running lanes; the array changes in place. */
  readonly lanes: readonly LaneRunner[];
  /** Publishes status, state and events for the owner. */
  readonly publisher: Publisher;
  readonly health: Health;
  private readonly deps: GuardedDeps;
  private readonly topics: DeviceTopics;
  private readonly tokenStore: TokenStore;
  private readonly tokens: RunningTokens;
  private readonly repeats: RepeatFilter;
  readonly diagnose: Diagnose;
  readonly admissions: Admissions;
  private readonly presence: Presence;
  private readonly publishRights: PublishRights;
  private readonly troubles: Troubles;
  private readonly operator: Operator;
  private readonly brokerUpkeep: BrokerUpkeep;
  private readonly defects: Defects;
  private readonly reports: DefectReports;
  private readonly loop: EventLoop;
  /** Runs the machines of all features. */
  private readonly runner: Runner;
  private readonly watchers = new Set<(step: LaneStep) => void>();
  private readonly config: RunningConfig;
  private readonly laneSet: LaneSet;
  private readonly acceptedTasks: AcceptedTasks;
  private readonly updates: UpdateWatch;
  private isBackendSilent = false;
  private bus: Bus | null = null;
  /** MQTT version of the current connection. */
  private protocol: 4 | 5 = 5;
  private stopping: Promise<void> | null = null;

  constructor(config: Config, outside: AgentDeps) {
    const { deps, reports } = guardDeps(outside);
    const defects = reports.report;
    const { clock, log } = deps;
    const { device, mqtt } = config;
    const address: DeviceAddress = { prefix: mqtt.prefix, tenant: device.tenant, device: device.id };
    const bootId = deps.randomHash().slice(0, 12);
    this.deps = deps;
    this.defects = defects;
    this.reports = reports;
    this.loop = createEventLoop((error) => defects('event loop', error));
    this.runner = createRunner({ clock, loop: this.loop, defects });
    this.topics = deviceTopics(address);
    this.repeats = createRepeatFilter(clock);
    this.tokenStore = createTokenStore(deps.randomHash, config.service.hosts);
    const { topics, repeats } = this;
    this.publishRights = createPublishRights(topics, clock, () => this.publisher);
    this.tokens = runTokens({
      ...deps,
      runner: this.runner,
      topics,
      tokenStore: this.tokenStore,
      repeats,
      seed: Math.floor(deps.random() * 2 ** 32),
      newId: deps.randomHash,
      bus: () => this.bus,
      lanes: () => this.lanes,
      trials: () => this.diagnose,
      backendChanged: (outage, before) => this.onBackend(outage, before),
      mayAsk: (may) => this.publishRights.mayAsk(may),
    });
    this.troubles = createTroubles(() => this.publisher);
    const { troubles } = this;
    this.laneSet = this.openLanes();
    this.lanes = this.laneSet.all;
    this.config = this.openConfig(config);
    this.acceptedTasks = createAcceptedTasks(deps.taskFile ?? null, clock, log, troubles.kept('tasks'));
    this.laneSet.add(this.config.current);
    const identity = { topics, bootId, version: deps.version, groups: device.groups };
    this.admissions = createAdmissions({
      device: topics.base,
      runner: this.runner,
      clock,
      log,
      lanes: this.lanes,
      file: deps.budgetFile ?? null,
      timeZone: () => deps.timeZone?.() ?? null,
      machineDay: deps.machineDay,
      config: () => this.config.current,
      kept: troubles.kept('budget'),
      tell: (detail) => this.publisher.tell('budget', { lane: null, ...detail }),
      changed: () => this.publisher.refresh(),
    });
    const now = { config: () => this.config.current, publisher: () => this.publisher };
    this.updates = createUpdateWatch({ deps, lanes: this.lanes, ...now });
    this.publisher = new Publisher(
      identity,
      clock,
      this.repeats,
      this.lanes,
      (id) => this.config.current.lanes.find((lane) => lane.id === id),
      () => this.admissions,
      () => this.updates.report,
    );
    const telling = { runner: this.runner, clock, log, publisher: this.publisher, bus: () => this.bus };
    this.presence = createPresence({ ...telling, topics, bootId });
    const { lanes, publisher, tokens } = this;
    const version = { version: deps.version, bootId };
    const status = createStatusAnswer({ clock, ...version, lanes, publisher, tokens });
    this.diagnose = this.openDiagnose();
    this.health = createHealth({
      topics: this.topics,
      clock,
      bootId,
      lanes: this.lanes,
      vitals: deps.vitals ?? null,
      bus: () => this.bus,
    });
    this.brokerUpkeep = createBrokerUpkeep({ ...telling, deps, topics, repeats, troubles });
    this.operator = this.openOperator(address, status);
  }

  private openConfig(base: Config): RunningConfig {
    const { deps, topics, repeats } = this;
    const { clock, log, signatures } = deps;
    return createRunningConfig({
      topics,
      groups: base.device.groups,
      clock,
      log,
      repeats,
      base,
      signatures,
      file: deps.desiredFile ?? null,
      kept: this.troubles.kept('desired'),
      setLogLevel: (level) => {
        // Before the start no command has changed the level.
        this.operator?.levelChanged();
        deps.setLogLevel?.(level);
      },
      watch: (listener) => this.watch(listener),
      lane: (id) => this.laneSet.of(id),
      renew: (change) => this.laneSet.renew(change),
      end: (...given) => this.laneSet.end(...given).catch((error: unknown) => this.defects('lanes', error)),
      begin: (lanes) => this.beginLanes(lanes),
      changed: () => {
        this.admissions.review();
        this.publisher.refresh();
      },
    });
  }

  private openDiagnose(): Diagnose {
    const { deps } = this;
    return createDiagnose({
      topics: this.topics,
      clock: deps.clock,
      version: deps.version,
      lanes: this.lanes,
      machine: deps.machine ?? null,
      config: () => this.config.current,
      bus: () => this.bus,
      refusals: () => this.tokens.counts.refusals,
      protocol: () => this.protocol,
      status: () => this.publisher.status(),
      watch: (listener) => this.watch(listener),
      randomHash: deps.randomHash,
      hide: (text: string) => this.tokenStore.hide(text),
    });
  }

  private openOperator(address: DeviceAddress, status: ReturnType<typeof createStatusAnswer>): Operator {
    const { deps } = this;
    return createOperator({
      deps,
      address,
      topics: this.topics,
      repeats: this.repeats,
      runner: this.runner,
      lanes: this.lanes,
      status,
      admissions: this.admissions,
      awaitedChanged: () => this.judgeUrgency(),
      kept: this.troubles.kept('commands'),
      dropped: (commands) => this.publisher.tell('commands_dropped', { lane: null, commands }),
      missingKeys: (devices) => this.publisher.condition('keys', devices.length > 0, devices),
      config: () => this.config.current,
      bus: () => this.bus,
      watch: (listener) => this.watch(listener),
      tell: (kind, detail) => this.publisher.tell(kind, detail),
      diagnose: ({ only }) => this.diagnose.run(only ?? null),
      certificate: this.brokerUpkeep.certificate,
      updates: this.updates.commands,
    });
  }

  /** Connects, and starts the lanes that start at boot, each once its loudspeaker is open or the wait has timed out. */
  async start(): Promise<void> {
    this.bus = this.connect();
    this.reports.tellOwner((where, message) => this.publisher.tellDefect(where, message));
    this.operator.begin(this.bus);
    this.brokerUpkeep.begin();
    this.updates.begin();
    this.admissions.review();
    await this.laneSet.start(this.config.current.lanes);
  }

  /** Calls back after every step of every lane, until the returned function is called. */
  watch(listener: (step: LaneStep) => void): () => void {
    this.watchers.add(listener);
    return () => this.watchers.delete(listener);
  }

  /** Carries out a command from the kiosk's own screen. @throws CommandError */
  async carryOut(name: string, args: object): Promise<unknown> {
    return this.operator.carryOut(name, args);
  }

  /** An obstacle to a connection is gone: retries within seconds. */
  hasten(): void {
    this.bus?.urgent(true);
    this.judgeUrgency();
  }

  /** The part of the files' configuration that is in force. */
  get configuration(): Config {
    return this.config.ofFiles;
  }

  /** The text about who runs the kiosk; `config/desired` may set it. */
  get operatorText(): string {
    return this.config.current.screen.operator;
  }

  /** The keys that identify the owner from now on; null: signatures are not checked. */
  trust(signatures: SignatureReader | null): void {
    const reader = signatures === null ? null : guardSignatures(signatures, this.defects);
    this.tokens.trust(reader);
    this.config.desired.trust(reader);
    this.operator.trust(reader);
  }

  /** Applies all changes that a running agent allows; returns the keys that need a restart. */
  apply(next: Config): string[] {
    const stale = this.config.apply(next);
    this.brokerUpkeep.changed(next.mqtt);
    this.troubles.reread([]);
    this.publisher.condition('restart_needed', stale.length > 0, stale);
    return stale;
  }

  /** A new configuration is unusable: the present one stays in force. */
  refuse(problems: readonly ConfigProblem[]): void {
    this.troubles.reread(problems);
  }

  /**
   * Ends every session, publishes `offline` and frees the devices, all within 10 s. A second call joins the first.
   */
  stop(): Promise<void> {
    this.stopping ??= this.end();
    return this.stopping;
  }

  private async end(): Promise<void> {
    const { clock } = this.deps;
    const endsAt = clock.now() + END_LIMIT_MS;
    this.publisher.end();
    await this.laneSet.endSessions(this.lanes);
    await Promise.all(
      [this.operator, this.config, this.acceptedTasks, this.admissions].map((one) => one.close()),
    );
    const { health, presence, publishRights, repeats, tokens, brokerUpkeep, updates, publisher } = this;
    const parts = [health, presence, publishRights, repeats, tokens, brokerUpkeep, updates, publisher];
    for (const part of parts) part.close();
    await insist(this.deps, 'audio', Promise.all(this.lanes.map((lane) => lane.close())));
    const finale = { topic: this.topics.status, payload: this.publisher.offlineStatus(), retain: true };
    await insist(this.deps, 'bus', Promise.resolve(this.bus?.close(finale)));
    // Waits until the file records which answers have reached the broker, so that the next start does not send them again.
    // A slow disk may delay this only until `endsAt`.
    await within(clock, Math.max(0, endsAt - clock.now()), this.operator.saved());
    this.deps.log.info({}, 'stopped');
  }

  private openLanes(): LaneSet {
    const { deps, repeats, loop, defects } = this;
    return createLaneSet({
      ...deps,
      repeats,
      loop,
      tokenStore: this.tokenStore,
      defects,
      requestToken: (lane, tokenRequest) => this.tokens.request(lane, tokenRequest),
      acceptedTask: (lane) => this.acceptedTasks.of(lane),
      onStep: (step) => this.onStep(step),
      watch: (listener) => this.watch(listener),
      inform: (lane) => {
        lane.post({ type: 'broker', up: this.bus?.connected === true });
        lane.post({ type: 'backend', silent: this.isBackendSilent });
      },
      gone: () => this.lanesChanged(),
    });
  }

  private beginLanes(lanes: readonly LaneConfig[]): void {
    this.laneSet.add(this.config.current);
    this.lanesChanged();
    void this.laneSet.start(lanes).catch((error: unknown) => this.defects('lanes', error));
  }

  private lanesChanged(): void {
    this.admissions.review();
    this.operator.lanesChanged();
  }

  private onStep(step: LaneStep): void {
    attempt(this.defects, 'step log', () => logStep({ log: this.deps.log, repeats: this.repeats }, step));
    attempt(this.defects, 'publisher', () => this.publisher.onStep(step));
    attempt(this.defects, 'tokens', () => this.tokens.onStep(step));
    attempt(this.defects, 'accepted tasks', () => this.acceptedTasks.onStep(step));
    attempt(this.defects, 'admissions', () => this.admissions.onStep(step));
    this.judgeUrgency();
    for (const watcher of this.watchers) attempt(this.defects, 'watcher', () => watcher(step));
  }

  private judgeUrgency(): void {
    this.bus?.urgent(this.operator.isAwaited || this.lanes.some((lane) => lane.needsBackend));
  }

  private onBackend(outage: Outage | null, before: Outage | null): void {
    this.isBackendSilent = outage !== null;
    for (const lane of this.lanes) lane.post({ type: 'backend', silent: outage !== null });
    this.publisher.tellBackend(outage, before);
  }

  private connect(): Bus {
    const { deps, topics, repeats, lanes, tokens, health } = this;
    const { brokerUpkeep, operator, presence, publisher, publishRights } = this;
    return openOwnerConnection({
      openBus: deps.openBus,
      log: deps.log,
      repeats,
      topics,
      lanes,
      tokens,
      health,
      brokerUpkeep,
      operator,
      presence,
      publisher,
      publishRights,
      desired: this.config.desired,
      groups: this.config.current.device.groups,
      up: (protocol) => {
        this.protocol = protocol;
      },
    });
  }
}
