import type { RolloutStore } from '../../../src/ports/rollout-store.ts';

/** The store of roll-outs in memory, with the leases of the given clock; its contract is tested on the real ones. */
export function createMemoryRolloutStore(now: () => number): RolloutStore & { isDown: boolean } {
  let row: { id: string; revision: number; body: string; instance: string; until: number } | null = null;
  const store = {
    isDown: false,
    async current() {
      check();
      return row === null ? null : { ...row, isDriven: row.until > now() };
    },
    async replace(before: { id: string; revision: number } | null, next: { id: string; body: string }) {
      check();
      if (row?.id !== before?.id || row?.revision !== before?.revision) return false;
      row = { ...next, revision: 1, instance: '', until: 0 };
      return true;
    },
    async save(key: { id: string; revision: number }, body: string) {
      check();
      if (row === null || row.id !== key.id || row.revision !== key.revision) return null;
      row = { ...row, body, revision: row.revision + 1 };
      return row.revision;
    },
    async drive(instance: string, leaseMs: number) {
      check();
      if (row === null || (row.instance !== instance && row.until >= now())) return null;
      row = { ...row, instance, until: now() + leaseMs };
      return row;
    },
    async leave(instance: string) {
      if (row?.instance === instance) row.until = 0;
    },
    async close() {},
  };
  const check = (): void => {
    if (store.isDown) throw new Error('the store is down');
  };
  return store;
}
