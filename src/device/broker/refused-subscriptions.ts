import type { Log } from '../../ports/log.ts';
import type { DeviceTopics } from '../../protocol/mqtt/topics.ts';
import type { Publisher } from '../status/publisher.ts';

/** Reports the topic filters that the broker refuses to the device. */
export function createRefusalReport({
  log,
  publisher,
  topics,
}: {
  readonly log: Log;
  readonly publisher: Pick<Publisher, 'condition'>;
  readonly topics: DeviceTopics;
}): (filters: readonly string[]) => void {
  let lastReported = '';
  return (filters) => {
    const fingerprint = filters.join(' ');
    if (fingerprint !== lastReported && filters.length > 0) {
      log.error({ topics: filters }, 'the broker refuses subscriptions that the agent needs');
    } else if (fingerprint !== lastReported) {
      log.info({}, 'the broker allows all subscriptions that the agent needs');
    }
    lastReported = fingerprint;
    const missing = filters.filter((filter) => filter !== topics.status);
    const names = missing.map((filter) => shortOf(filter, topics));
    publisher.condition('not_subscribed', names.length > 0, names);
  };
}

/** The short name of a filter: `token/res`, `cmd`, `group/lobby/cmd`. */
function shortOf(filter: string, { base, fleetBase }: DeviceTopics): string {
  const tenant = fleetBase.replace(/all$/, '');
  const own = `${base}/`;
  const short = filter.startsWith(own) ? filter.slice(own.length) : filter.slice(tenant.length);
  return short.replace(/\/\+$/, '');
}
