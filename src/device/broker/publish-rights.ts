import type { LostMessage } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { DeviceTopics } from '../../protocol/mqtt/topics.ts';
import type { Publisher } from '../status/publisher.ts';

/**
 * A refusal counts for this long (ms), even after a reconnect: the broker may have closed the connection because of the message.
 * Status and state are published every five minutes, so a lasting refusal repeats within this time.
 */
const BELIEVED_MS = 600_000;
/**
 * Time until a topic is tried again (ms). An earlier refusal may come from the bus, which holds back a refused topic for the
 * same time.
 */
const ASKED_AGAIN_MS = 300_000;

/** Reports in the status the topics on which the broker does not let the device publish. */
export interface PublishRights {
  lost(message: LostMessage): void;
  /** Whether the broker accepts token requests. The backend watch knows this from the acknowledgement of each request. */
  mayAsk(may: boolean): void;
  close(): void;
}

export function createPublishRights(
  { base, status, tokenRequest }: DeviceTopics,
  clock: Clock,
  publisher: Pick<Publisher, 'condition'>,
): PublishRights {
  let mayAsk = true;
  /** Until when each topic counts as refused, by its short name. */
  const refused = new Map<string, number>();
  let lastReported = '';
  let cancel = (): void => {};

  const tell = (): void => {
    cancel();
    const now = clock.now();
    for (const [name, until] of refused) if (until <= now) refused.delete(name);
    const names = [...(mayAsk ? [] : ['token/req']), ...[...refused.keys()].sort()];
    if (names.join() !== lastReported) {
      lastReported = names.join();
      publisher.condition('not_published', names.length > 0, names);
    }
    if (refused.size > 0) cancel = clock.at(Math.min(...refused.values()), tell);
  };

  return {
    lost({ topic, why }) {
      if (why !== 'refused') return;
      // A refused status cannot report its own refusal; the log does.
      if (topic === status || topic === tokenRequest || !topic.startsWith(`${base}/`)) return;
      const name = nameOf(topic.slice(base.length + 1));
      const until = refused.get(name);
      if (until !== undefined && clock.now() < until - BELIEVED_MS + ASKED_AGAIN_MS) return;
      refused.set(name, clock.now() + BELIEVED_MS);
      if (until === undefined) tell();
    },
    mayAsk(may) {
      mayAsk = may;
      tell();
    },
    close: () => cancel(),
  };
}

/** The short name: `state`, `event`, `cmd`, `config/reported`, without kinds of events and names of commands. */
function nameOf(topic: string): string {
  return topic.replace(/^(event|cmd)\/.*$/, '$1');
}
