import type { ConsoleStore } from '../../ports/console-store.ts';
import type { RolloutStore } from '../../ports/rollout-store.ts';
import type { Store } from '../../ports/store.ts';
import { EXIT, Failure } from '../../program/problem.ts';
import { type BackendConfig, MEMORY_STORE } from '../../protocol/backend-config.ts';
import { createConsoleStore } from './console-store.ts';
import { createPostgresEngine } from './postgres-engine.ts';
import { createRolloutStore } from './rollout-store.ts';
import type { SqlEngine } from './sql-engine.ts';
import { createSqlStore } from './sql-store.ts';
import { createSqliteEngine } from './sqlite-engine.ts';

type Setting = BackendConfig['store'];

/** The configured store; connects at its first use. */
export function openStore(setting: Setting, password?: () => string): Store {
  return createSqlStore(openEngine(setting, password));
}

/** The database for a verb that needs stored data. Throws a `Failure` if the configuration names no store. */
export function openKeptEngine(setting: Setting, password?: () => string): SqlEngine {
  if (setting.url === null && setting.path === MEMORY_STORE)
    throw new Failure('the configuration names no store: set store.path or store.url', EXIT.usage);
  return openEngine(setting, password);
}

export function openKeptConsoleStore(setting: Setting, password?: () => string): ConsoleStore {
  return createConsoleStore(openKeptEngine(setting, password));
}

export function openKeptStore(setting: Setting, password?: () => string): Store {
  return createSqlStore(openKeptEngine(setting, password));
}

/** The console's store, over a separate connection, so that the console does not delay devices. */
export function openConsoleStore(setting: Setting, password?: () => string): ConsoleStore {
  return createConsoleStore(openEngine(setting, password));
}

/** The store of the roll-out; null: no store is configured, so no other program can start a roll-out. */
export function openRolloutStore(setting: Setting, password?: () => string): RolloutStore | null {
  if (setting.url === null && setting.path === MEMORY_STORE) return null;
  return createRolloutStore(openEngine(setting, password));
}

function openEngine({ url, path }: Setting, password?: () => string): SqlEngine {
  if (url === null) return createSqliteEngine(path);
  return createPostgresEngine({ url, ...(password && { password }) });
}
