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
      log.warn({ limits }, 'the broker lacks features that the agent uses; the agent continues without them');
    else log.info({}, 'the broker allows all that the agent uses');
    publisher.condition('broker_limits', limits.length > 0, limits);
  };
}
