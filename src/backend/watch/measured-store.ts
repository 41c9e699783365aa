/** Wraps a store and measures its operations. */
import { createCounter, createHistogram } from '../../adapters/watch/instruments.ts';
import type { Family } from '../../adapters/watch/open-metrics.ts';
import type { Clock } from '../../ports/clock.ts';
import { type Store, StoreDown, StoreRefused } from '../../ports/store.ts';

const BOUNDS_S = [0.001, 0.005, 0.02, 0.1, 0.5, 1, 3, 10];
const FAILURES = ['down', 'refused', 'unexpected'] as const;

export interface MeasuredStore {
  readonly store: Store;
  families(): Family[];
}

export function measureStore(store: Store, clock: Clock): MeasuredStore {
  const times = createHistogram(BOUNDS_S);
  const failures = createCounter(FAILURES.map((why) => ({ why })));
  const measured = async <T>(work: Promise<T>): Promise<T> => {
    const began = clock.now();
    try {
      return await work;
    } catch (error) {
      const why =
        error instanceof StoreDown ? 'down' : error instanceof StoreRefused ? 'refused' : 'unexpected';
      failures.add({ why });
      throw error;
    } finally {
      times.observe((clock.now() - began) / 1000);
    }
  };
  return {
    store: {
      open: () => measured(store.open()),
      check: () => measured(store.check()),
      change: (...about) => measured(store.change(...about)),
      changeCounted: (...about) => measured(store.changeCounted(...about)),
      renew: (...about) => measured(store.renew(...about)),
      knownDevices: (most) => measured(store.knownDevices(most)),
      takeAbandoned: (...about) => measured(store.takeAbandoned(...about)),
      takeLeaving: (...about) => measured(store.takeLeaving(...about)),
      append: (entry) => measured(store.append(entry)),
      report: (report) => measured(store.report(report)),
      addImplausible: (numbers) => measured(store.addImplausible(numbers)),
      recentStreams: (device) => measured(store.recentStreams(device)),
      sums: (...time) => measured(store.sums(...time)),
      tell: (...about) => measured(store.tell(...about)),
      told: () => measured(store.told()),
      prune: () => measured(store.prune()),
      close: () => store.close(),
    },
    families: () => [
      {
        name: 'dragoman_backend_store_operation_seconds',
        type: 'histogram',
        unit: 'seconds',
        help: 'Time of an operation of the store.',
        samples: times.samples(),
      },
      {
        name: 'dragoman_backend_store_failures',
        type: 'counter',
        help: 'Operations of the store that failed. down: it cannot be used now; refused: a person must act.',
        samples: failures.samples(),
      },
    ],
  };
}
