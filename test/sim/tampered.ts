/** Agents that are broken on purpose, so that the oracles have something to find. */
import type { AgentDeps } from '../../src/agent/deps.ts';
import type { BusMessage } from '../../src/ports/bus.ts';
import { runSeed } from './run-seed.ts';
import type { Violation } from './violations.ts';

const HOURS = 0.3;
const SEEDS = [700, 701, 702, 703];

interface Limits {
  readonly hours?: number;
  readonly named?: string;
  readonly seeds?: readonly number[];
}

/**
 * The rules that the first seed has broken whose agent is tampered with, up to the first of them; empty: no oracle has noticed.
 * @param limits `named`: it goes on up to this rule, if it is broken
 */
export async function rulesThatNotice(
  faults: readonly string[],
  spoil: (world: AgentDeps) => AgentDeps,
  { hours = HOURS, named, seeds = SEEDS }: Limits = {},
): Promise<string[]> {
  const isEnough = ({ rule }: Violation): boolean => named === undefined || rule === named;
  for (const seed of seeds) {
    const { violations } = await runSeed(seed, hours, { spoil, faults, isEnough });
    if (violations.length > 0) return [...new Set(violations.map(({ rule }) => rule))];
  }
  return [];
}

/** An agent that gets something else than what came, or nothing; @param times how often it gets it */
export function withReceived(change: (message: BusMessage) => BusMessage | null, times = 1) {
  return (world: AgentDeps): AgentDeps => ({
    ...world,
    openBus: (options, listener) =>
      world.openBus(options, {
        ...listener,
        message(message) {
          const changed = change(message);
          for (let time = 0; time < times; time++) if (changed !== null) listener.message(changed);
        },
      }),
  });
}

/** An agent that says something else, or as often as it likes. */
export function withPublished(change: (topic: string, payload: string) => readonly string[]) {
  return (world: AgentDeps): AgentDeps => ({
    ...world,
    openBus(options, listener) {
      const bus = world.openBus(options, listener);
      return {
        urgent: (isUrgent) => bus.urgent(isUrgent),
        reconnect: () => bus.reconnect(),
        close: (finale) => bus.close(finale),
        publish(topic, payload, more) {
          for (const text of change(topic, payload)) bus.publish(topic, text, more);
        },
        get connected() {
          return bus.connected;
        },
        get outbox() {
          return bus.outbox;
        },
      };
    },
  });
}
