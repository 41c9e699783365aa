/** Breaks an agent's messages on purpose, to test the oracles. */
import type { AgentDeps } from '../../src/device/deps/deps.ts';
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
 * Runs seeds with a broken agent. @returns the broken rules of the first seed with a violation; empty: no oracle found any
 * @param limits `named`: a run continues until this rule is broken
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

/** Changes or drops messages before the agent gets them. @param times how often it gets each */
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

/** Changes, drops or repeats the messages that the agent publishes. */
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
