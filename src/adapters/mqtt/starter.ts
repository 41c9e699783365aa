/** Links: how each is begun and left. */
import type { Bus, BusListener, BusOptions } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ending } from './ending.ts';
import { brokerName, clientOptions, type MqttConnection } from './endpoint.ts';
import { type Link, openLink, type SessionFacts } from './link.ts';
import { subscriptionsOf } from './subscribe.ts';
import type { VersionMemories } from './version.ts';

/** A subscription that was refused is asked for again after this long: somebody may have allowed it. */
const SUBSCRIBE_AGAIN_MS = 300_000;
/** For the last word and DISCONNECT, before the socket is cut. */
const LEAVE_WITHIN_MS = 1000;

/** What is said last, before a connection is left. */
export type Finale = Parameters<NonNullable<Bus['attempt']>>[0];

/** What a link tells of itself. */
export interface LinkEvents {
  accepted(facts: SessionFacts): void;
  ready(link: Link, refused: readonly string[]): void;
  ended(link: Link, ending: Ending): void;
}

/** A connection that has held for so long has got past what was too large. */
const PAST_LARGE_MS = 60_000;

/** What a connection avoids of the one before, whose broker sent more than may be gathered in memory. */
interface Avoidance {
  /** What the broker keeps for our session. */
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
    /** The first that was too large may have waited in our session, which is given up; one that comes again is retained. */
    next: (): Avoidance => ({ isNew: large > 0, isWithoutRetained: large > 1 }),
    ended({ tooLarge }: Ending): void {
      if (tooLarge) large += 1;
      else if (acceptedAt !== null && clock.now() - acceptedAt >= PAST_LARGE_MS) large = 0;
      acceptedAt = null;
    },
  };
}

export type StartLink = (to: MqttConnection, on: LinkEvents) => Link;

/** @param isPresent whether what a link brings counts */
export function createStarter(
  clock: Clock,
  memories: VersionMemories,
  options: BusOptions,
  listener: BusListener,
  isPresent: (link: Link) => boolean,
): { readonly start: StartLink; readonly connections: number } {
  const subscriptions = subscriptionsOf(options);
  let connections = 0;
  const avoidances = new Map<string, ReturnType<typeof createAvoidance>>();
  const avoidanceOf = ({ url }: MqttConnection): ReturnType<typeof createAvoidance> => {
    const avoidance = avoidances.get(url) ?? createAvoidance(clock);
    avoidances.set(url, avoidance);
    return avoidance;
  };
  const start: StartLink = (to, on) => {
    const avoidance = avoidanceOf(to);
    const { isNew, isWithoutRetained } = avoidance.next();
    const version = memories.choose(to, clock.now());
    const will = (): ReturnType<NonNullable<BusOptions['will']>> | null =>
      options.will?.(connections + 1) ?? null;
    const target = {
      ...{ broker: brokerName(to), version, subscriptions, isWithoutRetained },
      options: () => clientOptions(to, version, will(), { keptForS: options.keptForS, isNew }),
    };
    const opened: Link = openLink(target, clock, {
      accepted(facts) {
        connections += 1;
        memories.note(to, version, 'accepted', clock.now());
        avoidance.accepted();
        on.accepted(isNew ? { ...facts, isPresent: true } : facts);
      },
      ready: (refused) => on.ready(opened, refused),
      message(message) {
        if (isPresent(opened)) listener.message(message);
        // Nobody takes it any more: what the broker keeps for us comes again at the next start.
        else message.hold?.();
      },
      oversized(topic, bytes) {
        if (isPresent(opened)) listener.oversized?.(topic, bytes);
      },
      ended(ending) {
        avoidance.ended(ending);
        on.ended(opened, ending);
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

/** Tells which subscriptions are refused, and asks for them again in a while. */
export function createRefusals(clock: Clock, options: BusOptions, listener: BusListener) {
  const subscriptions = subscriptionsOf(options);
  let cancel = (): void => {};
  const note = (link: Link, refused: readonly string[]): void => {
    listener.refused?.(refused);
    if (refused.length === 0) return;
    cancel = clock.at(clock.now() + SUBSCRIBE_AGAIN_MS, () => {
      const again = subscriptions.filter(({ filter }) => refused.includes(filter));
      link.subscribe(again, (still) => note(link, still));
    });
  };
  return { note, cancel: () => cancel() };
}

/** A try that hangs. */
export function endHungTry(link: Link | null): void {
  if (link?.accepted === false) link.destroy(`cannot reach ${link.broker}: no answer`);
}

/** With DISCONNECT, so that the will is not published. */
export function closeLink(link: Link, clock: Clock, finale: Finale | null): void {
  if (!link.accepted) return link.destroy();
  clock.at(clock.now() + LEAVE_WITHIN_MS, () => link.destroy());
  if (finale === null) link.end();
  else link.publish({ ...finale, qos: 1, properties: {} }, () => link.end());
}
