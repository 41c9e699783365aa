import type { BrokerLimit } from '../../ports/bus.ts';
import type { Log } from '../../ports/log.ts';
import type { Publisher } from '../status/publisher.ts';

/** Reports features that the broker does not allow; the agent continues without them. */
export function createLimitReport({
  log,
  publisher,
}: {
  readonly log: Log;
  readonly publisher: Pick<Publisher, 'condition'>;
}): (limits: readonly BrokerLimit[]) => void {
  let lastReported = '';
  return (limits) => {
    if (limits.join() === lastReported) return;
    lastReported = limits.join();
    if (limits.length > 0)
      log.warn({ limits }, 'the agent needs more than the broker allows; it continues with less');
    else log.info({}, 'the broker allows all that the agent needs');
    publisher.condition('broker_limits', limits.length > 0, limits);
  };
}
