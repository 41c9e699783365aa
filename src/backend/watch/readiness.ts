/** Answers for load balancers and supervisors: is the process running, and can it issue tokens now? */
import { json, type Page, type Pages, text } from '../../adapters/watch/watch-server.ts';

/** Longest wait for the store (ms). */
const STORE_WITHIN_MS = 3000;

export interface Health {
  readonly isDraining: () => boolean;
  readonly isConnected: () => boolean;
  readonly checkStore: () => Promise<void>;
  readonly wait: (ms: number) => Promise<void>;
}

export function healthPages(health: Health): Pages {
  const readiness = async (): Promise<Page> => {
    const missing = [
      ...(health.isDraining() ? ['draining'] : []),
      ...(health.isConnected() ? [] : ['broker']),
      ...((await hasStore(health)) ? [] : ['store']),
    ];
    return missing.length === 0 ? json(200, { ready: true }) : json(503, { ready: false, missing });
  };
  return { '/healthz': async () => text(200, 'ok'), '/readyz': readiness };
}

export async function hasStore({ checkStore, wait }: Health): Promise<boolean> {
  const checked = checkStore().then(
    () => true,
    () => false,
  );
  return Promise.race([checked, wait(STORE_WITHIN_MS).then(() => false)]);
}
