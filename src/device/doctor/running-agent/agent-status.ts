import { type ReceivedStatus, receivedStatusSchema } from '../../../fleet/device-messages.ts';
import type { Clock } from '../../../ports/clock.ts';
import { parseJson } from '../../../protocol/common/json.ts';
import { once } from '../report/check.ts';

/** Wait for the retained message (ms): it follows the subscription at once. */
const LISTEN_MS = 1500;
const LOOK_EACH_MS = 50;

/** The status that the device's agent publishes, for a doctor that runs beside it. */
export interface AgentStatus {
  /** A message arrived on the topic. */
  hear(payload: string): void;
  /** The last status; null if none comes. */
  ask(): Promise<ReceivedStatus | null>;
}

/** @param join connects to the broker and subscribes; resolves to whether it is connected */
export function createAgentStatus(clock: Clock, join: () => Promise<boolean>): AgentStatus {
  let last: ReceivedStatus | null = null;
  const arrive = once(async () => {
    if (!(await join())) return;
    const end = clock.now() + LISTEN_MS;
    while (last === null && clock.now() < end)
      await new Promise<void>((resolve) => void clock.at(clock.now() + LOOK_EACH_MS, resolve));
  });
  return {
    hear(payload) {
      const parsed = receivedStatusSchema.safeParse(parseJson(payload));
      if (parsed.success) last = parsed.data;
    },
    async ask() {
      await arrive();
      return last;
    },
  };
}
