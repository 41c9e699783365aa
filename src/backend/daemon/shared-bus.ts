/**
 * One connection to the broker for several parts that receive the same topics, so that each message comes once. Each part gets a bus
 * of its own. The connection opens when all have joined, and closes when the last one leaves.
 */
import type { Bus, BusListener, OpenBus, Subscription } from '../../ports/bus.ts';

interface Member {
  readonly filters: ReadonlyMap<string, Subscription>;
  readonly listener: BusListener;
}

export interface SharedBus {
  readonly join: OpenBus;
  /** Whether a part has joined. */
  readonly isUsed: boolean;
  open(): void;
}

export function shareBus(openBus: OpenBus): SharedBus {
  const members = new Set<Member>();
  let bus: Bus | null = null;

  const tell = (about: (listener: BusListener, filters: Member['filters']) => void): void => {
    for (const { listener, filters } of members) about(listener, filters);
  };
  const subscriptions = (): Subscription[] => {
    const all = new Map<string, Subscription>();
    for (const { filters } of members)
      for (const [filter, wanted] of filters) {
        const other = all.get(filter);
        const isBare = [wanted, other ?? wanted].every((one) => one.isWithoutRetained === true);
        all.set(filter, {
          filter,
          qos: other?.qos === 1 ? 1 : wanted.qos,
          mayBeRefused: wanted.mayBeRefused && (other?.mayBeRefused ?? true),
          ...(isBare && { isWithoutRetained: true }),
        });
      }
    return [...all.values()];
  };

  return {
    join(options, listener) {
      const member = { filters: new Map(options.subscriptions.map(whole)), listener };
      members.add(member);
      return {
        get connected() {
          return bus?.connected ?? false;
        },
        get outbox() {
          return bus?.outbox ?? { depth: 0, dropped: 0 };
        },
        publish(topic, payload, how) {
          if (bus === null) how?.ended?.(false);
          else bus.publish(topic, payload, how);
        },
        urgent: (isUrgent) => bus?.urgent(isUrgent),
        reconnect: () => bus?.reconnect(),
        async close() {
          if (members.delete(member) && members.size === 0) await bus?.close();
        },
      };
    },
    get isUsed() {
      return members.size > 0;
    },
    open() {
      if (members.size === 0) return;
      bus = openBus(
        { subscriptions: subscriptions(), will: null },
        {
          refused: (refused) =>
            tell((listener, filters) => listener.refused?.(refused.filter((filter) => filters.has(filter)))),
          up: (...about) => tell((listener) => listener.up(...about)),
          down: (...about) => tell((listener) => listener.down(...about)),
          message: (message) => tell((listener) => listener.message(message)),
          oversized: (...about) => tell((listener) => listener.oversized?.(...about)),
          lost: (lost) => tell((listener) => listener.lost?.(lost)),
        },
      );
    },
  };
}

function whole(wanted: string | Subscription): [string, Subscription] {
  return typeof wanted === 'string'
    ? [wanted, { filter: wanted, qos: 1, mayBeRefused: false }]
    : [wanted.filter, wanted];
}
