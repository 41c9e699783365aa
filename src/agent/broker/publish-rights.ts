import type { Clock } from '../../ports/clock.ts';
import type { DeviceTopics } from '../../protocol/mqtt/topics.ts';
import type { Publisher } from '../health/publisher.ts';

/**
 * A refusal is believed for this long, also by the next connection, which a broker may have ended for it: what is published again
 * (status and state after five minutes) is refused anew by then, where the rules are as before.
 */
const BELIEVED_MS = 600_000;
/** After this long a topic is asked for in earnest again; a refusal before may be the bus's own, which leaves it alone so long. */
const ASKED_AGAIN_MS = 300_000;

/** Tells by the status what the broker does not let the device publish. */
export interface PublishRights {
  /** The broker has refused a message on a topic. */
  refused(topic: string): void;
  /** Whether it takes token requests: their watch knows, for they are acknowledged one by one. */
  mayAsk(may: boolean): void;
  close(): void;
}

export function createPublishRights(
  { base, status, tokenRequest }: DeviceTopics,
  clock: Clock,
  publisher: () => Pick<Publisher, 'condition'>,
): PublishRights {
  let mayAsk = true;
  /** By what people call the topic: until when. */
  const refused = new Map<string, number>();
  let told = '';
  let cancel = (): void => {};

  const tell = (): void => {
    cancel();
    const now = clock.now();
    for (const [name, until] of refused) if (until <= now) refused.delete(name);
    const names = [...(mayAsk ? [] : ['token/req']), ...[...refused.keys()].sort()];
    if (names.join() !== told) {
      told = names.join();
      publisher().condition('not_published', names.length > 0, names);
    }
    if (refused.size > 0) cancel = clock.at(Math.min(...refused.values()), tell);
  };

  return {
    refused(topic) {
      // A status that nobody gets tells nothing; the log does.
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

/** `state`, `event`, `cmd`, `config/reported`: kinds of events and names of commands do not matter. */
function nameOf(topic: string): string {
  return topic.replace(/^(event|cmd)\/.*$/, '$1');
}
