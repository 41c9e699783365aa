/** The generated parts of docs/monitoring.md: the metrics, from the functions that show them. */
import type { Family } from '../../src/adapters/watch/open-metrics.ts';
import { createFleetView } from '../../src/backend/fleet/fleet-view.ts';
import { createTokenCounts } from '../../src/backend/issuing/token-counts.ts';
import { backendFamilies } from '../../src/backend/watch/backend-metrics.ts';
import { measureStore } from '../../src/backend/watch/measured-store.ts';
import { webhookFamilies } from '../../src/backend/watch/watch.ts';
import { agentFamilies } from '../../src/device/status/agent-families.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Store } from '../../src/ports/store.ts';
import { table } from './table.ts';

const SUFFIX: Readonly<Record<string, string>> = { counter: '_total', info: '_info' };

function metricsTable(families: readonly Family[]): string {
  return table(
    ['metric', 'type', 'what'],
    families.map(({ name, type, help }) => [`\`${name}${SUFFIX[type] ?? ''}\``, type, help]),
  );
}

export const MONITORING_PARTS: Readonly<Record<string, () => string>> = {
  'backend-metrics': () =>
    metricsTable([
      ...backendFamilies({
        isConnected: true,
        followsFleet: true,
        hasStore: true,
        view: createFleetView(),
        budgets: [],
      }),
      ...createTokenCounts().families(),
      // Nothing is measured here: only the names are needed.
      ...measureStore({} as Store, {} as Clock).families(),
      ...webhookFamilies(0, []),
    ]),
  'agent-metrics': () =>
    metricsTable(
      agentFamilies({
        version: '',
        status: 'ready',
        reasons: [],
        isConnected: true,
        lanes: [],
        health: {
          ts: null,
          boot_id: '',
          rss_bytes: null,
          cpu_seconds: null,
          loop_lag_ms: null,
          temperature_c: null,
          uptime_s: 0,
          outbox: { depth: 0, dropped: 0 },
          reconnects: 0,
          lanes: [],
        },
      }),
    ),
};
