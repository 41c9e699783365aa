import type { Store } from '../../ports/store.ts';
import { EXIT, Failure } from '../../program/problem.ts';
import { type BackendConfig, MEMORY_STORE } from '../../protocol/backend-config.ts';
import { createPostgresEngine } from './postgres-engine.ts';
import { createSqlStore } from './sql-store.ts';
import { createSqliteEngine } from './sqlite-engine.ts';

/** The store for a verb that reads what a backend has kept. Throws a `Failure` if the configuration names none. */
export function openKeptStore(store: BackendConfig['store'], password?: () => string): Store {
  if (store.url === null && store.path === MEMORY_STORE)
    throw new Failure('the configuration names no store: set store.path or store.url', EXIT.usage);
  return openStore(store, password);
}

/** The store that the configuration names; connects at its first use. */
export function openStore({ url, path }: BackendConfig['store'], password?: () => string): Store {
  const engine =
    url === null ? createSqliteEngine(path) : createPostgresEngine({ url, ...(password && { password }) });
  return createSqlStore(engine);
}
