/** What `dragoman-backend doctor` says of the store, and that it changes nothing. */
import { EventEmitter } from 'node:events';
import { chmodSync, copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, expect, it } from 'vitest';
import { runBackendProgram } from '../../../src/backend/cli.ts';
import { migrate, STEPS } from '../../../src/backend/store/migrations.ts';
import { createSqlStore } from '../../../src/backend/store/sql-store.ts';
import { createSqliteEngine } from '../../../src/backend/store/sqlite-engine.ts';
import { gather } from '../../gathered.ts';
import { type Database, onBothStores } from './both-stores.ts';
import { PASSWORD } from './postgres-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-doctor-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, content: string): string {
  const file = join(folder, name);
  writeFileSync(file, content);
  chmodSync(file, 0o600);
  return file;
}

/** The lines about the store. Service and broker are not there. */
async function examine(store: object): Promise<{ code: number; store: string; out: string; err: string }> {
  const { said, print, complain } = gather();
  const config = {
    mqtt: { url: 'mqtt://127.0.0.1:1' },
    service: {
      url: 'http://127.0.0.1:1',
      streamUrl: 'wss://stream.example',
      apiKeyFile: write('key', 'a-key'),
    },
    allow: ['museum/*'],
    store,
  };
  const words = ['doctor', '--config', write('c.json', JSON.stringify(config))];
  const output = Object.assign(new PassThrough(), { fd: 1, isTTY: false });
  const code = await runBackendProgram(words, {
    env: {},
    output,
    signals: new EventEmitter(),
    print,
    complain,
  });
  expect(said.out + said.err).not.toContain(PASSWORD);
  const about = /^\w+ +store .*(\n +-> .*)?/m.exec(said.out)?.[0] ?? '';
  return { code, store: about.replaceAll(/\s+/g, ' '), out: said.out, err: said.err };
}

const withPassword = (store: object, password = PASSWORD): object =>
  'url' in store ? { ...store, passwordFile: write('password', password) } : store;

async function tablesOf(database: Database): Promise<number> {
  if ('path' in database.config) return existsSync(database.config.path) ? 1 : 0;
  const engine = database.engine();
  const rows = await engine.transact(null, (sql) =>
    sql.query("SELECT 1 FROM pg_tables WHERE schemaname = 'public'"),
  );
  await engine.close();
  return rows.length;
}

it("warns of a copy of SQLite's file without the rows that are in the log beside it", async () => {
  const path = join(folder, 'running.db');
  const store = createSqlStore(createSqliteEngine(path));
  await store.change('museum/a', () => ({
    change: { ledger: [{ id: 'given/1', lane: 'main', session: 's1', source: 'backend', ms: 1000 }] },
    result: null,
  }));
  const [alone, both] = [join(folder, 'alone.db'), join(folder, 'both.db')];
  copyFileSync(path, alone);
  for (const end of ['', '-wal']) copyFileSync(`${path}${end}`, `${both}${end}`);
  expect(await examine({ path: alone })).toMatchObject({
    store: expect.stringMatching(
      /^warning store .*alone\.db holds no sessions -> if it is a copy .*also copy .*alone\.db-wal/,
    ),
  });
  expect((await examine({ path: both })).store).toMatch(/^ok store .*its ledger ends at/);
  await store.close();
});

onBothStores((maker) => {
  it('says that the backend will make the store, and does not make it', async () => {
    const database = await maker.make();
    const { store } = await examine(withPassword(database.config));
    expect(store).toMatch(
      /^ok store .*(not created yet: the backend creates|the backend creates its tables)/,
    );
    expect(await tablesOf(database)).toBe(0);
  });

  it('says when the ledger ends', async () => {
    const database = await maker.make();
    const store = database.store();
    await store.change('museum/a', () => ({
      change: { ledger: [{ id: 'given/1', lane: 'main', session: 's1', source: 'backend', ms: 1000 }] },
      result: null,
    }));
    expect((await examine(withPassword(database.config))).store).toMatch(
      /^ok store it can be read and written; its ledger ends at 20\d\d-\d\d-\d\dT[\d:.]+Z$/,
    );
  });

  it('leaves the tables of an older program to the backend, and refuses those of a newer one', async () => {
    const database = await maker.make();
    const engine = database.engine();
    await migrate(engine, STEPS.slice(0, 1));
    const config = withPassword(database.config);
    expect((await examine(config)).store).toMatch(/^ok store it can .*upgrades its tables from version 1$/);
    const version = () => engine.transact(null, (sql) => sql.query('SELECT version FROM schema_version'));
    expect(await version()).toEqual([{ version: 1 }]);
    await migrate(engine);
    expect((await examine(config)).store).toBe('ok store it can be read and written');
    await engine.transact(null, (sql) => sql.query('UPDATE schema_version SET version = 99'));
    expect((await examine(config)).store).toMatch(
      /^problem store .*has version 99, and this program knows only up to \d+.* -> install the newer program/,
    );
    await engine.close();
  });

  it('names what is wrong with a server: its password, its address, its database, itself', async ({
    skip,
  }) => {
    const { server } = maker;
    const { config } = await maker.make();
    if (server === null || !('url' in config)) return skip('SQLite has none');
    const { url } = config;
    const wrong = await examine(withPassword(config, 'a wrong password'));
    expect(wrong).toMatchObject({
      code: 3,
      store: expect.stringMatching(
        /password authentication failed .*-> correct the user in store\.url, or store\.passwordFile$/,
      ),
    });
    expect((await examine(config)).store).toMatch(
      /^problem store the store at 127\.0\.0\.1:\d+\/store_\d+ .*asks for a password -> name its file in store\.passwordFile$/,
    );
    expect(await examine({ ...config, passwordFile: join(folder, 'none') })).toMatchObject({
      code: 3,
      out: expect.stringMatching(
        /^problem +configuration +\S+c\.json:1:\d+: store\.passwordFile: .*none does not exist\n +-> correct \S+c\.json\n(skipped +\w+ +the configuration cannot be used\n){5}$/,
      ),
    });
    expect((await examine(withPassword({ url: url.replace(/store_\d+$/, 'gone') }))).store).toMatch(
      /database "gone" does not exist -> create the database, or correct its name in store\.url$/,
    );
    await server.stop();
    expect((await examine(withPassword(config))).store).toMatch(
      /^problem store .*: nothing listens there -> start the server, or correct host and port of store\.url/,
    );
    await server.start();
    expect((await examine(withPassword(config))).store).toMatch(/^ok store/);
  });
});
