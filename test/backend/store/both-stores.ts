/** Runs the same tests on both databases. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe } from 'vitest';
import { createPostgresEngine } from '../../../src/backend/store/postgres-engine.ts';
import type { SqlEngine } from '../../../src/backend/store/sql-engine.ts';
import { createSqlStore } from '../../../src/backend/store/sql-store.ts';
import { createSqliteEngine } from '../../../src/backend/store/sqlite-engine.ts';
import type { Store } from '../../../src/ports/store.ts';
import { needs } from '../../needs.ts';
import {
  findPostgres,
  NO_POSTGRES,
  PASSWORD,
  type PostgresServer,
  startPostgres,
} from './postgres-server.ts';

export interface Database {
  /** What a backend's configuration says of it. */
  readonly config: { path: string } | { url: string };
  engine(): SqlEngine;
  /** One more backend's connection to it; closed after the test. */
  store(): Store;
  /** The same, for whoever closes it himself. */
  openStore(): Store;
  /** The same, for a test in which the database is down: it finds that out soon. */
  openImpatiently(): Store;
  /** One whose clock stands still (ms); closed after the test. */
  storeAt(now: number): Store;
}

/** Longest wait for PostgreSQL (ms): a busy machine must not look like a store that is down. */
const PATIENT_MS = 60_000;

/** Longest wait for SQLite (ms) in a test that keeps it busy until the wait is over. */
const IMPATIENT_MS = 100;

export interface DatabaseMaker {
  readonly server: PostgresServer | null;
  make(): Promise<Database>;
}

/** @param tests gets a maker of empty databases, for use inside of tests */
export function onBothStores(tests: (maker: DatabaseMaker) => void): void {
  describe('SQLite', () => {
    const folder = mkdtempSync(join(tmpdir(), 'dragoman-store-'));
    afterAll(() => rmSync(folder, { recursive: true, force: true }));
    let files = 0;
    const open = closedAfterEach();
    tests({
      server: null,
      async make() {
        files += 1;
        const path = join(folder, `store-${files}.db`);
        const engine = () => createSqliteEngine(path);
        return {
          config: { path },
          engine,
          store: () => open(engine()),
          openStore: () => createSqlStore(engine()),
          openImpatiently: () => createSqlStore(createSqliteEngine(path, IMPATIENT_MS)),
          storeAt: (now) => open({ ...engine(), now: String(now) }),
        };
      },
    });
  });

  const bin = findPostgres();
  describe(
    bin === null ? `PostgreSQL (${NO_POSTGRES})` : 'PostgreSQL',
    needs(bin === null && NO_POSTGRES),
    () => {
      let server: PostgresServer | null = null;
      beforeAll(async () => {
        server = await startPostgres(bin ?? '');
      });
      afterAll(() => server?.remove());
      afterEach(() => server?.reuseDatabases());
      const open = closedAfterEach();
      tests({
        get server() {
          return server;
        },
        async make() {
          const url = (await server?.createDatabase()) ?? '';
          const engine = () => createPostgresEngine({ url, password: () => PASSWORD, waitMs: PATIENT_MS });
          return {
            config: { url },
            engine,
            store: () => open(engine()),
            openStore: () => createSqlStore(engine()),
            // A server that is down refuses connections at once.
            openImpatiently: () => createSqlStore(engine()),
            storeAt: (now) => open({ ...engine(), now: String(now) }),
          };
        },
      });
    },
  );
}

function closedAfterEach(): (engine: SqlEngine) => Store {
  const stores: Store[] = [];
  afterEach(async () => {
    await Promise.all(stores.splice(0).map((store) => store.close()));
  });
  return (engine) => {
    const store = createSqlStore(engine);
    stores.push(store);
    return store;
  };
}
