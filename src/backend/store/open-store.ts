import type { Store } from '../../ports/store.ts';
import type { BackendConfig } from '../../protocol/backend-config.ts';
import { createPostgresEngine } from './postgres-engine.ts';
import { createSqlStore } from './sql-store.ts';
import { createSqliteEngine } from './sqlite-engine.ts';

/** The store that the configuration names; connects at its first use. */
export function openStore({ url, path }: BackendConfig['store'], password?: () => string): Store {
  const engine =
    url === null ? createSqliteEngine(path) : createPostgresEngine({ url, ...(password && { password }) });
  return createSqlStore(engine);
}
