import type { Complain } from '../../machine/limited-warnings.ts';
import type { Log } from '../../ports/log.ts';
import { StoreDown, StoreRefused } from '../../ports/store.ts';

/** Logs why the store cannot be used: once a minute and kind. */
export function complainOfStore(error: unknown, complain: Complain, log: Log): void {
  if (error instanceof StoreDown || error instanceof StoreRefused)
    complain('store', { why: error.message }, 'the store cannot be used: devices get no new sessions');
  else
    log.error(
      { fault: error instanceof Error ? error.message : 'unknown' },
      'unexpected failure of the store',
    );
}
