import { listenTrouble } from '../../adapters/system-error.ts';
import { OPEN_METRICS_TYPE, openMetrics } from '../../adapters/watch/open-metrics.ts';
import { startWatchServer, type WatchServer } from '../../adapters/watch/watch-server.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { VERSION } from '../../protocol/version.ts';
import { agentFamilies, type Measured } from './agent-families.ts';
import type { Health } from './health-reports.ts';
import type { Publisher } from './publisher.ts';

/** Wait before another attempt to listen (ms): another program may free the port. */
const RETRY_MS = 30_000;
/** The page is cached for this long (ms), because measuring takes CPU time that the sound needs. */
const SAME_MS = 1000;

/** Reads the figures for the page. */
export function measureAgent({
  health,
  publisher,
}: {
  readonly health: Pick<Health, 'isConnected' | 'measure'>;
  readonly publisher: Pick<Publisher, 'status' | 'laneReports'>;
}): Measured {
  const { isConnected } = health;
  const lanes = publisher.laneReports();
  return { version: VERSION, ...publisher.status(), isConnected, health: health.measure(), lanes };
}

export interface MetricsOptions {
  readonly listen: string;
  readonly measure: () => Measured;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Metrics {
  /** Null while it cannot be served. */
  readonly url: string | null;
  close(): Promise<void>;
}

export async function openMetricsPage({ listen, measure, clock, log }: MetricsOptions): Promise<Metrics> {
  let server: WatchServer | null = null;
  let isClosed = false;
  let cancelRetry = (): void => {};
  let last = { body: '', until: Number.NEGATIVE_INFINITY };

  const page = async () => {
    if (clock.now() >= last.until)
      last = { body: openMetrics(agentFamilies(measure())), until: clock.now() + SAME_MS };
    return { status: 200, type: OPEN_METRICS_TYPE, body: last.body };
  };
  const attempt = async (): Promise<void> => {
    try {
      const opened = await startWatchServer(listen, { '/metrics': page }, clock);
      if (isClosed) return void (await opened.close());
      server = opened;
      log.info({ url: `${opened.url}/metrics` }, 'metrics are served');
    } catch (error) {
      if (isClosed) return;
      log.error({ listen }, `metrics.listen ${listenTrouble(error)}; retrying every 30 s`);
      cancelRetry = clock.at(clock.now() + RETRY_MS, () => void attempt());
    }
  };
  await attempt();

  return {
    get url() {
      return server?.url ?? null;
    },
    async close() {
      isClosed = true;
      cancelRetry();
      await server?.close();
    },
  };
}
