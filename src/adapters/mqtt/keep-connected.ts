import type { Seed } from '../../core/random.ts';
import type { Bus, BusListener, BusOptions } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import { limitsOf } from './allowances.ts';
import type { Leaving } from './clean-disconnect.ts';
import type { Ending } from './end-reasons.ts';
import type { MqttConnection } from './endpoint.ts';
import type { Link, Outgoing, openLink } from './link.ts';
import { closeLink, createRefusals, createStarter, type Finale } from './link-starter.ts';
import type { Outbox } from './outbox.ts';
import { createVersionChoice } from './protocol-version.ts';
import { RetryPlan } from './retry-plan.ts';
import { createSender, type Sender } from './sender.ts';
import { createTrial } from './trial.ts';
import { TryLimit } from './try-limit.ts';
import { createVersionMemory, type VersionMemory } from './version-memory.ts';

export interface ConnectionDeps {
  readonly clock: Clock;
  /** Seed of the reconnect jitter: different on each device. */
  readonly seed: Seed;
  /** How to reach the broker that `attempt` tries. It must not throw. Absent: there is no other broker. */
  readonly other?: () => MqttConnection;
  /** The broker's certificate is not valid yet: the clock may be slow. */
  readonly tooEarly?: () => void;
  /** Shared by connections to the same brokers. Default: nothing is known, and nothing kept. */
  readonly versions?: VersionMemory;
  /** Opens one connection. Tests replace the network with it. */
  readonly openLink?: typeof openLink;
}

/** The present link, from the first byte to its end. */
interface Present {
  readonly link: Link;
  readonly connection: MqttConnection;
  /** Every subscription is in place. */
  isUp: boolean;
  /** The link is being closed; the next one opens when it has ended. */
  isReplaced: boolean;
}

/** How a link was lost. */
interface Loss {
  readonly ending: Ending;
  readonly connection: MqttConnection;
  /** Topic of the only message that the broker had not acknowledged; null: no message, or several. */
  readonly unanswered: string | null;
}

/** Opens one link after another until it is closed. */
export class KeptConnection implements Leaving {
  private readonly connectionOf: () => MqttConnection;
  private readonly deps: ConnectionDeps;
  private readonly outbox: Outbox;
  private readonly listener: BusListener;
  private readonly starter: ReturnType<typeof createStarter>;
  private readonly retry: RetryPlan;
  private readonly tryLimit: TryLimit;
  private readonly sender: Sender;
  private readonly refusals: ReturnType<typeof createRefusals>;
  private readonly trial: ReturnType<typeof createTrial>;
  private present: Present | null = null;
  /** A loss of the link while another broker was tried: the trial may be its cause. */
  private lostInTrial: Loss | null = null;
  private isClosed = false;
  private progress = (): void => {};

  constructor(
    connectionOf: () => MqttConnection,
    deps: ConnectionDeps,
    outbox: Outbox,
    options: BusOptions,
    listener: BusListener,
  ) {
    const { clock, seed, other, openLink, versions = createVersionMemory() } = deps;
    this.connectionOf = connectionOf;
    this.deps = deps;
    this.outbox = outbox;
    this.listener = listener;
    const isInUse = (link: Link): boolean => !this.isClosed && this.isPresent(link);
    this.starter = createStarter(clock, createVersionChoice(versions), options, listener, isInUse, openLink);
    this.retry = new RetryPlan(clock, seed, () => this.open());
    const tryMs = (): number => this.retry.tryMs;
    this.tryLimit = new TryLimit(clock, tryMs, () => this.link());
    this.sender = createSender(
      outbox,
      clock,
      () => this.retry.isUrgent,
      () => this.progress(),
    );
    this.refusals = createRefusals(clock, options, listener);
    this.trial = createTrial({
      clock,
      tryMs,
      start: this.starter.start,
      other: other ?? null,
      isPresent: (link) => this.isPresent(link),
      changeOver: (to, opened, finale) => this.changeOver(to, opened, finale),
      ready: (opened, refused) => this.afterReady(opened, refused),
      ended: (ending) => this.afterEnd(ending),
      failed: () => this.afterTrial(),
    });
    this.open();
  }

  /** Connected and subscribed. */
  get isUp(): boolean {
    return this.present?.isUp ?? false;
  }

  link(): Link | null {
    return this.present?.link ?? null;
  }

  /** Sends what waits in the outbox. */
  pump(): void {
    this.sender.pump();
  }

  /** Sends a message with QoS 0, or drops it. */
  publishFleeting(message: Omit<Outgoing, 'qos'>): void {
    if (this.present?.isUp) this.sender.fleeting(this.present.link, message);
  }

  urgent(isUrgent: boolean): void {
    if (!this.retry.setUrgent(isUrgent)) return;
    if (this.present !== null && !this.present.isUp) this.tryLimit.adjust();
    this.trial.rush();
    this.sender.rush();
    this.refusals.urgent(isUrgent);
  }

  disputed(isDisputed: boolean): void {
    this.retry.setDisputed(isDisputed);
  }

  tryNow(): void {
    this.retry.skipWait();
  }

  attempt(...given: Parameters<NonNullable<Bus['attempt']>>): void {
    this.trial.attempt(...given);
  }

  /** Sends DISCONNECT, so that the will is not published, and then opens the next link. Without a link, opens one at once. */
  reconnect(): void {
    if (this.present === null) {
      // After a loss during a trial, the next link opens at the end of the trial.
      if (this.lostInTrial === null) this.retry.openNow();
      return;
    }
    if (this.present.isReplaced) return;
    this.present.isReplaced = true;
    this.sender.detach();
    closeLink(this.present.link, this.deps.clock, null);
  }

  /** Opens no further link and reports no more to the listener. The present link stays for `disconnectGracefully`. */
  close(): void {
    this.isClosed = true;
    this.retry.cancel();
    this.tryLimit.cancel();
    this.refusals.cancel();
    this.trial.close();
  }

  unsent(): number {
    return this.outbox.size;
  }

  drain(allowed: boolean): void {
    if (allowed && this.present !== null) this.sender.attach(this.present.link);
    else this.sender.detach();
  }

  watch(callback: () => void): void {
    this.progress = callback;
  }

  private isPresent(link: Link): boolean {
    return link === this.present?.link;
  }

  private open(): void {
    const connection = this.connectionOf();
    const link = this.starter.start(connection, {
      ready: (opened, refused) => this.afterReady(opened, refused),
      ended: (opened, ending) => {
        if (this.isPresent(opened)) this.afterEnd(ending);
      },
    });
    this.present = { link, connection, isUp: false, isReplaced: false };
    this.tryLimit.begin();
  }

  private afterReady(opened: Link, refused: readonly string[]): void {
    const { present } = this;
    // In the meantime this connection may have been closed, or replaced after a trial.
    if (this.isClosed || present?.link !== opened || present.isReplaced) return;
    present.isUp = true;
    this.tryLimit.cancel();
    this.refusals.note(opened, refused);
    this.retry.noteUp();
    this.listener.limited?.(limitsOf(opened.allowed));
    this.listener.up(this.starter.connections, opened.version);
    this.sender.attach(opened);
  }

  private afterEnd(ending: Ending): void {
    const ended = this.present;
    this.present = null;
    this.tryLimit.cancel();
    this.refusals.cancel();
    const unanswered = this.outbox.unansweredTopic();
    this.sender.detach(ending);
    if (this.isClosed) return this.progress();
    if (ended === null) return;
    const isAwaited = ended.isReplaced || ending.asksForLess === true;
    if (isAwaited) return this.open();
    const loss = { ending, connection: ended.connection, unanswered };
    // Both addresses may lead to one broker, which accepts only one client with our name.
    if (ended.isUp && this.trial.isUnderWay) this.lostInTrial = loss;
    else this.afterLoss(loss);
  }

  private afterLoss({ ending, connection, unanswered }: Loss): void {
    const isSilentAgain = this.retry.noteDown(ending);
    const hint = isSilentAgain ? hintOf(connection.clientId, unanswered) : '';
    this.listener.down(ending.problem, ending.message + hint, ending.code);
    if (ending.tooEarly) this.deps.tooEarly?.();
  }

  /** The other broker does not accept us. */
  private afterTrial(): void {
    const loss = this.lostInTrial;
    this.lostInTrial = null;
    if (loss !== null) this.afterLoss(loss);
  }

  /** Closes the present link, if there is one, and uses the new one. */
  private changeOver(connection: MqttConnection, link: Link, finale: Finale): void {
    const last = this.present;
    this.retry.beginAgain();
    this.tryLimit.cancel();
    this.refusals.cancel();
    this.sender.detach();
    this.lostInTrial = null;
    this.present = { link, connection, isUp: last?.isUp ?? false, isReplaced: false };
    if (last !== null) closeLink(last.link, this.deps.clock, finale);
  }
}

/** Possible reasons why a broker closes each connection without a word. */
function hintOf(clientId: string, unanswered: string | null): string {
  const topic = unanswered === null ? '' : ` does it allow "${unanswered}"?`;
  return ` again;${topic} does another client use the identifier "${clientId}"?`;
}
