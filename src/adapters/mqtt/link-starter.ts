/** How links are started and closed. */
import type { Bus, BusListener, BusOptions } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import { createAllowances } from './allowances.ts';
import { type Ending, explainFixedVersion, isAboutVersion } from './end-reasons.ts';
import { brokerName, clientOptions, type MqttConnection } from './endpoint.ts';
import { type Link, openLink } from './link.ts';
import { isFixed, type VersionChoice } from './protocol-version.ts';
import { subscriptionsOf } from './subscribe.ts';

/** Wait before a refused subscription is tried again (milliseconds): the broker's rules may have changed. */
const SUBSCRIBE_AGAIN_MS = 300_000;
/** Wait before a refused subscription is tried again while a person speaks (milliseconds). */
const URGENT_SUBSCRIBE_AGAIN_MS = 15_000;
/** Time for the last message and DISCONNECT, before the socket is cut (milliseconds). */
const LEAVE_WITHIN_MS = 1000;

/** The last message before a connection is closed. */
export type Finale = Parameters<NonNullable<Bus['attempt']>>[0];

/** The events of a link. */
export interface LinkEvents {
  ready(link: Link, refused: readonly string[]): void;
  ended(link: Link, ending: Ending): void;
}

/** A connection that has lasted this long (milliseconds) is no longer in danger of receiving the oversized message. */
const PAST_LARGE_MS = 60_000;

/** How a connection avoids the oversized message that ended the previous one. */
interface Avoidance {
  /** Discards our session, with what the broker keeps for it. */
  readonly isNew: boolean;
  readonly isWithoutRetained: boolean;
}

function createAvoidance(clock: Clock) {
  let large = 0;
  let acceptedAt: number | null = null;
  return {
    accepted(): void {
      acceptedAt = clock.now();
    },
    /** After the first one, our session is discarded, where it may have been queued. If it comes again, it is a retained message. */
    next: (): Avoidance => ({ isNew: large > 0, isWithoutRetained: large > 1 }),
    ended({ tooLarge }: Ending): void {
      if (tooLarge) large += 1;
      else if (acceptedAt !== null && clock.now() - acceptedAt >= PAST_LARGE_MS) large = 0;
      acceptedAt = null;
    },
  };
}

export type StartLink = (to: MqttConnection, on: LinkEvents) => Link;

/** @param isPresent whether this is the present link; messages over other links are not delivered */
export function createStarter(
  clock: Clock,
  versions: VersionChoice,
  options: BusOptions,
  listener: BusListener,
  isPresent: (link: Link) => boolean,
  open: typeof openLink = openLink,
): { readonly start: StartLink; readonly connections: number } {
  const subscriptions = subscriptionsOf(options);
  let connections = 0;
  const allowances = createAllowances();
  const avoidances = new Map<string, ReturnType<typeof createAvoidance>>();
  const avoidanceOf = ({ url }: MqttConnection): ReturnType<typeof createAvoidance> => {
    const avoidance = avoidances.get(url) ?? createAvoidance(clock);
    avoidances.set(url, avoidance);
    return avoidance;
  };
  const start: StartLink = (to, on) => {
    const avoidance = avoidanceOf(to);
    const { isNew, isWithoutRetained } = avoidance.next();
    const version = versions.choose(to, clock.now());
    const will = (): ReturnType<NonNullable<BusOptions['will']>> | null =>
      options.will?.(connections + 1) ?? null;
    let isAccepted = false;
    const target = {
      broker: brokerName(to),
      version,
      subscriptions,
      isWithoutRetained,
      largestBytes: options.largestBytes,
      options: () =>
        clientOptions(to, version, will(), { keptForS: options.keptForS, isNew, allowed: allowances.of(to) }),
    };
    const opened: Link = open(target, clock, {
      accepted() {
        connections += 1;
        avoidance.accepted();
        isAccepted = true;
        versions.accepted(to, version, clock.now());
        allowances.accepted(to, opened.allowed);
      },
      ready: (refused) => on.ready(opened, refused),
      message(message) {
        if (isPresent(opened)) listener.message(message);
        // This link no longer counts. Without an acknowledgement the broker sends the message again after the next start.
        else message.hold?.();
      },
      oversized(topic, bytes) {
        if (isPresent(opened)) listener.oversized?.(topic, bytes);
      },
      ended(ending) {
        avoidance.ended(ending);
        const isNextVersion = !isAccepted && versions.failed(to, version, ending, clock.now());
        const asksForLess = allowances.refused(to, ending.code) || isNextVersion;
        const end =
          isFixed(to) && isAboutVersion(ending)
            ? explainFixedVersion(target.broker, version, ending)
            : ending;
        on.ended(opened, asksForLess ? { ...end, asksForLess } : end);
      },
    });
    return opened;
  };
  return {
    start,
    get connections() {
      return connections;
    },
  };
}

/** Reports the refused subscriptions, and tries them again later. */
export function createRefusals(clock: Clock, options: BusOptions, listener: BusListener) {
  const subscriptions = subscriptionsOf(options);
  let waiting: { readonly dueAt: number; readonly act: () => void } | null = null;
  let waitMs = SUBSCRIBE_AGAIN_MS;
  /** The link with refused subscriptions. */
  let refusing: Link | null = null;
  let cancelTimer = (): void => {};
  const cancel = (): void => {
    cancelTimer();
    waiting = null;
    refusing = null;
  };
  const wait = (act: () => void, dueAt: number): void => {
    cancelTimer();
    waiting = { dueAt, act };
    cancelTimer = clock.at(dueAt, act);
  };
  const note = (link: Link, refused: readonly string[]): void => {
    listener.refused?.(refused);
    cancel();
    if (refused.length === 0) return;
    refusing = link;
    const again = subscriptions.filter(({ filter }) => refused.includes(filter));
    const subscribe = (): void =>
      link.subscribe(again, (still) => {
        // The answer may come after the change to another link.
        if (link === refusing) note(link, still);
      });
    wait(subscribe, clock.now() + waitMs);
  };
  return {
    note,
    cancel,
    urgent(isUrgent: boolean): void {
      waitMs = isUrgent ? URGENT_SUBSCRIBE_AGAIN_MS : SUBSCRIBE_AGAIN_MS;
      if (waiting !== null) wait(waiting.act, Math.min(waiting.dueAt, clock.now() + waitMs));
    },
  };
}

/** Sends DISCONNECT, so that the will is not published. */
export function closeLink(link: Link, clock: Clock, finale: Finale | null): void {
  if (!link.accepted) return link.destroy();
  clock.at(clock.now() + LEAVE_WITHIN_MS, () => link.destroy());
  if (finale === null) link.end();
  else link.publish({ ...finale, qos: 1, properties: {} }, () => link.end());
}
