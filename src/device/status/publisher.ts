import { ORDINARY_A_MINUTE, type RepeatFilter, withRepeats } from '../../machine/repeat-filter.ts';
import { createRepublish, type Republish } from '../../machine/republish.ts';
import { createThrottle, type Throttle } from '../../machine/throttle.ts';
import type { Bus, LostMessage } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import { asWall } from '../../protocol/common/time.ts';
import type { UpdateReport } from '../../protocol/common/update.ts';
import type { LaneConfig } from '../../protocol/config.ts';
import type { LaneReport, StateMessage, StatusMessage } from '../../protocol/mqtt/device.ts';
import { timestamp } from '../../protocol/mqtt/envelope.ts';
import type { EventKind } from '../../protocol/mqtt/event.ts';
import type { DeviceStatus } from '../../protocol/mqtt/statuses.ts';
import type { DeviceTopics } from '../../protocol/mqtt/topics.ts';
import type { Connection } from '../features/feature.ts';
import type { HelpCall } from '../help/help-rules.ts';
import { reportLane } from '../lane/lane-report.ts';
import type { LaneRunner, LaneStep } from '../lane/runner/lane-runner.ts';
import { nextTryAt } from '../lane/session/retry-wait.ts';
import type { LaneState } from '../lane/state/lane-state.ts';
import { hearingStream, phaseOf } from '../lane/state/session-state.ts';
import type { Outage } from '../tokens/backend-watch-rules.ts';
import { describeDevices } from './described-devices.ts';
import { createEventSums } from './event-sums.ts';
import { type Condition, deviceStatus, laneStatus } from './status-rules.ts';

/** Shortest interval of `{p}/state` (ms, docs/mqtt.md). */
const STATE_INTERVAL_MS = 1000;

/**
 * After this many changes in a minute, an improvement is published only once it is stable: a device may flap each
 * second.
 */
const STEADY = { changes: 6, withinMs: 60_000, forMs: 5000 } as const;

/** The identity of the device, and of this run of the agent (`bootId`). */
export interface Identity {
  readonly topics: DeviceTopics;
  readonly bootId: string;
  readonly version: string;
  readonly groups: readonly string[];
}

/** What `{p}/state` has from other features. */
export interface StateParts {
  laneConfig(id: string): LaneConfig | undefined;
  /** When sessions of a lane may begin again, as a timestamp; null: they may begin now, or the time is unknown. */
  closedUntil(lane: string): string | null;
  /** The use of the day's budget; null: there is no budget. */
  budget(): StateMessage['budget'];
  /** Null: there is no updater. */
  update(): UpdateReport | null;
  /** The call for a member of staff; null: there is none. */
  help(): HelpCall | null;
}

/** Before the features are made. Nothing is published then. */
const NO_PARTS: StateParts = {
  laneConfig: () => undefined,
  closedUntil: () => null,
  budget: () => null,
  update: () => null,
  help: () => null,
};

/** Publishes the device's condition: `{p}/status`, `{p}/state` and `{p}/event/{kind}`. */
export class Publisher {
  private readonly identity: Identity;
  private readonly clock: Clock;
  private readonly repeats: RepeatFilter;
  private readonly lanes: readonly LaneRunner[];
  private parts = NO_PARTS;
  private readonly state: Throttle;
  private bus: Bus | null = null;
  private connection = 0;
  private lastStatus = '';
  private lastReasons: readonly string[] = [];
  private ending = false;
  private readonly conditions = new Map<Condition, readonly string[]>();
  private readonly sums = createEventSums();
  private cancelLook = (): void => {};
  /** Times of the status changes within the last minute. */
  private changes: readonly number[] = [];
  private betterSince: number | null = null;
  private cancelBetter = (): void => {};
  private readonly again: Republish;
  private readonly watchers = new Set<() => void>();

  constructor(identity: Identity, clock: Clock, repeats: RepeatFilter, lanes: readonly LaneRunner[]) {
    this.identity = identity;
    this.clock = clock;
    this.repeats = repeats;
    this.lanes = lanes;
    this.again = createRepublish(clock);
    this.state = createThrottle(clock, STATE_INTERVAL_MS, () => this.publishState());
  }

  /** The will, which the broker publishes. Its time is null, because the time of the disconnect is not known yet. */
  will(connection: number): string {
    return this.statusBody('lost', connection, ['connection_lost'], null);
  }

  /** The last status at a clean shutdown. */
  offlineStatus(): string {
    return this.statusBody('offline', this.connection, [], timestamp(this.clock.wall()));
  }

  /** From here on events wait in the bus until there is a connection. */
  attach(bus: Bus): void {
    this.bus = bus;
  }

  /** The features are made: the state names their parts from here on. */
  include(parts: StateParts): void {
    this.parts = parts;
  }

  connected({ number }: Pick<Connection, 'number'>): void {
    this.connection = number;
    // Each connection publishes everything again. The bus itself holds back a topic that ended the last connection.
    this.again.forget();
    this.publishStatus(true);
    this.state.request();
  }

  /** From here on the status is `stopping`. */
  end(): void {
    this.ending = true;
    this.publishStatus(true);
  }

  /** Sets or clears a condition of the whole device, with its details if there are several. */
  condition(what: Condition, holds: boolean, detail: string | null | readonly string[] = null): void {
    if (!holds && !this.conditions.has(what)) return;
    if (!holds) this.conditions.delete(what);
    else this.conditions.set(what, typeof detail === 'string' ? [detail] : (detail ?? []));
    this.refresh();
  }

  /** The number of the present connection, from 1; 0 before the first. */
  get connections(): number {
    return this.connection;
  }

  /** Publishes the status again: another client has overwritten it. */
  repeat(): void {
    this.publishStatus(true);
  }

  /** Publishes status and state again, for an operator whose broker sends no retained messages. */
  publishAgain(): void {
    this.publishStatus(true);
    this.state.request();
  }

  /** Publishes what waits, and ends all timers. Features may report until here. */
  finish(): void {
    this.state.flush();
    this.cancelLook();
    this.cancelBetter();
    this.again.forget();
  }

  configChanged(): void {
    this.refresh();
  }

  lost({ topic, why }: LostMessage): void {
    // A refused state is not published again at once: it would be refused again, each second.
    if (topic !== this.identity.topics.state || why === 'full') this.refresh();
  }

  refresh(): void {
    this.state.request();
    this.publishStatus(false);
    for (const watcher of this.watchers) watcher();
  }

  /** Calls back whenever the status may have changed, until the returned function is called. */
  watch(watcher: () => void): () => void {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }

  onStep(step: LaneStep): void {
    for (const effect of step.effects) {
      if (effect.type !== 'notify') continue;
      const times = Object.entries(effect.times ?? {}).map(([name, at]) => [name, this.stampOf(at)] as const);
      this.tell(effect.kind, { lane: step.lane, ...effect.detail, ...Object.fromEntries(times) });
    }
    if (isReported(step)) this.refresh();
  }

  /**
   * An event of a lane, or of the whole device (`lane` null). `ts` is when it happened, even if it is published
   * later.
   */
  tell(kind: EventKind, detail: Readonly<Record<string, unknown>>): void {
    const body = { ts: timestamp(this.clock.wall()), ...detail };
    const name = this.sums.nameOf(kind, detail);
    const sums = this.sums.add(kind, detail);
    const publish = (repeated: number): void => {
      this.sums.told(name);
      this.publishEvent(kind, withRepeats({ ...body, ...sums }, repeated));
    };
    this.repeats.tell(name, publish, ORDINARY_A_MINUTE);
  }

  /** Publishes an event without the limit for repeated ones. @param ended called once: whether the broker has acknowledged it */
  deliver(
    kind: EventKind,
    detail: Readonly<Record<string, unknown>>,
    ended: (isDelivered: boolean) => void,
  ): void {
    const body = { ts: timestamp(this.clock.wall()), ...detail };
    if (this.bus === null) ended(false);
    else this.bus.publish(this.identity.topics.event(kind), JSON.stringify(body), { qos: 1, ended });
  }

  /** Publishes a defect (a bug). A part that throws with each chunk of sound produces one event a minute with a count. */
  tellDefect(where: string, message: string): void {
    const body = { ts: timestamp(this.clock.wall()), lane: null, where, message };
    const publish = (repeated: number): void => this.publishEvent('defect', withRepeats(body, repeated));
    this.repeats.tell(`event:defect:${where}`, publish);
  }

  private publishEvent(kind: EventKind, body: object): void {
    this.bus?.publish(this.identity.topics.event(kind), JSON.stringify(body), { qos: 1 });
  }

  /** The backend is silent, or is back: events of the whole device. */
  tellBackend(outage: Outage | null, before: Outage | null): void {
    if (outage !== null) {
      const { since, reason, field } = outage;
      this.tell('backend_silent', {
        lane: null,
        since: this.stampOf(since),
        reason,
        ...(field !== null && { field }),
      });
    } else if (before !== null) {
      const silentMs = Math.round(this.clock.now() - before.since);
      this.tell('backend_back', { lane: null, since: this.stampOf(before.since), silent_ms: silentMs });
    }
  }

  status(): { status: DeviceStatus; reasons: string[] } {
    const conditions = [...this.conditions].flatMap(([code, details]) =>
      details.length === 0 ? [{ code }] : details.map((detail) => ({ code, detail })),
    );
    const { status, reasons } = deviceStatus(this.laneStatuses(), conditions);
    return { status: this.ending ? 'stopping' : status, reasons };
  }

  private laneStatuses() {
    const now = this.clock.now();
    return this.lanes.map(({ id, state }) => ({ id, ...laneStatus(state, now) }));
  }

  laneReports(): LaneReport[] {
    const stampOf = (monotonic: number): string | null => this.stampOf(monotonic);
    return this.lanes.map(({ id, state }) =>
      reportLane(id, state, describeDevices(this.parts.laneConfig(id)), stampOf, this.parts.closedUntil(id)),
    );
  }

  /** Sets a timer for parts of the status that change with time alone. */
  private lookAgain(): void {
    this.cancelLook();
    const moments = this.laneStatuses().map(({ changesAt }) => changesAt ?? Number.POSITIVE_INFINITY);
    const at = Math.min(...moments);
    if (Number.isFinite(at)) this.cancelLook = this.clock.at(at, () => this.refresh());
  }

  private publishStatus(always: boolean): void {
    this.lookAgain();
    const { status, reasons } = this.status();
    const fingerprint = JSON.stringify([status, reasons]);
    // Before the first connection nothing was published; each connection begins with a status.
    const isNews = always || fingerprint !== this.lastStatus;
    if (this.connection === 0 || !isNews || (!always && this.mayWorsen(reasons)))
      return this.stayBetter(isNews);
    this.stayBetter(false);
    if (!always) this.changes = [...this.changes, this.clock.now()];
    this.lastStatus = fingerprint;
    this.lastReasons = reasons;
    const body = this.statusBody(status, this.connection, reasons, timestamp(this.clock.wall()));
    this.publishRetained(this.identity.topics.status, body, () => this.publishStatus(true));
  }

  /** Whether an improvement is held back, because the status flaps and the improvement is not stable yet. */
  private mayWorsen(reasons: readonly string[]): boolean {
    const now = this.clock.now();
    this.changes = this.changes.filter((at) => now - at < STEADY.withinMs);
    const isBetter = !this.ending && reasons.every((reason) => this.lastReasons.includes(reason));
    if (!isBetter || this.changes.length < STEADY.changes) return false;
    // The same sum as in stayBetter: if this subtracted instead, a rounding error could rearm the timer again and again.
    return this.betterSince === null || now < this.betterSince + STEADY.forMs;
  }

  /** Notes since when the status has been better than the published one, and publishes it once it is stable. */
  private stayBetter(isBetter: boolean): void {
    this.cancelBetter();
    this.betterSince = isBetter ? (this.betterSince ?? this.clock.now()) : null;
    if (this.betterSince === null || this.connection === 0) return;
    this.cancelBetter = this.clock.at(this.betterSince + STEADY.forMs, () => this.refresh());
  }

  /** @param publish publishes the value that is current some time after the broker has refused this one */
  private publishRetained(topic: string, body: string, publish: () => void): void {
    this.bus?.publish(topic, body, {
      qos: 1,
      retain: true,
      ended: (isDelivered) => {
        if (isDelivered || !this.ending) this.again.ended(topic, isDelivered, publish);
      },
    });
  }

  private publishState(): void {
    const body: StateMessage = {
      ts: timestamp(this.clock.wall()),
      boot_id: this.identity.bootId,
      groups: [...this.identity.groups],
      outbox: { depth: this.bus?.outbox.depth ?? 0, dropped: this.bus?.outbox.dropped ?? 0 },
      budget: this.parts.budget(),
      help: this.helpReport(),
      update: this.parts.update(),
      lanes: this.laneReports(),
    };
    this.publishRetained(this.identity.topics.state, JSON.stringify(body), () => this.state.request());
  }

  private helpReport(): StateMessage['help'] {
    const call = this.parts.help();
    if (call === null || call.state === 'calling' || call.state === 'unreached') return null;
    return { state: call.state, since: this.stampOf(call.calledAt), by: call.by };
  }

  private statusBody(status: DeviceStatus, connection: number, reasons: string[], ts: string | null): string {
    const { bootId, version } = this.identity;
    const body: StatusMessage = { ts, status, boot_id: bootId, conn_seq: connection, version, reasons };
    return JSON.stringify(body);
  }

  private stampOf(monotonic: number): string | null {
    const wall = this.clock.wall();
    return timestamp(wall === null ? null : asWall(wall - (this.clock.now() - monotonic)));
  }
}

/** Step (ms) in which lost speech is published: one event per chunk would be three a second. */
const LOST_STEP_MS = 10_000;

function lostStep({ backlog, settings }: LaneState): number {
  return Math.floor((backlog.accounts.lost * settings.chunkMs) / LOST_STEP_MS);
}

/** Whether a step changed any value in `{p}/state` or `{p}/status`. */
function isReported({ before, after }: LaneStep): boolean {
  return (
    phaseOf(before.session) !== phaseOf(after.session) ||
    before.options !== after.options ||
    before.refusedTask !== after.refusedTask ||
    before.conversation !== after.conversation ||
    before.problem !== after.problem ||
    before.warning !== after.warning ||
    before.captureLost !== after.captureLost ||
    before.deviceFaults !== after.deviceFaults ||
    before.captureFindings !== after.captureFindings ||
    before.vainWakes !== after.vainWakes ||
    before.roomDb !== after.roomDb ||
    before.echo.reported !== after.echo.reported ||
    before.echo.fallback !== after.echo.fallback ||
    before.echo.cancelsSince !== after.echo.cancelsSince ||
    before.echo.changedAt !== after.echo.changedAt ||
    before.playbackLost !== after.playbackLost ||
    before.headset !== after.headset ||
    before.failures !== after.failures ||
    before.wanted !== after.wanted ||
    before.hold !== after.hold ||
    before.backendSilent !== after.backendSilent ||
    before.silentEnds !== after.silentEnds ||
    before.unreadable?.since !== after.unreadable?.since ||
    before.unspoken !== after.unspoken ||
    before.loss?.cause !== after.loss?.cause ||
    lostStep(before) !== lostStep(after) ||
    nextTryAt(before) !== nextTryAt(after) ||
    hearingStream(before.session)?.id !== hearingStream(after.session)?.id
  );
}
