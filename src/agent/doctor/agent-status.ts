import { type ToldStatus, toldStatusSchema } from '../../core/fleet/told.ts';
import type { Clock } from '../../ports/clock.ts';
import { parseJson } from '../../protocol/json.ts';
import { once } from './check.ts';

/** What the broker keeps comes right behind the subscription. */
const LISTEN_MS = 1500;
const LOOK_EACH_MS = 50;

/** The status that the device's agent publishes, for whoever examines the device beside it. */
export interface AgentStatus {
  /** A message of the topic has come. */
  hear(payload: string): void;
  /** The last one; null where none comes. */
  ask(): Promise<ToldStatus | null>;
}

/** @param join goes to the broker, and subscribes; whether that came to a connection */
export function createAgentStatus(clock: Clock, join: () => Promise<boolean>): AgentStatus {
  let last: ToldStatus | null = null;
  const arrive = once(async () => {
    if (!(await join())) return;
    const end = clock.now() + LISTEN_MS;
    while (last === null && clock.now() < end)
      await new Promise<void>((resolve) => void clock.at(clock.now() + LOOK_EACH_MS, resolve));
  });
  return {
    hear(payload) {
      const parsed = toldStatusSchema.safeParse(parseJson(payload));
      if (parsed.success) last = parsed.data;
    },
    async ask() {
      await arrive();
      return last;
    },
  };
}
