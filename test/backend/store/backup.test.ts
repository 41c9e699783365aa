/** Backup and restore, from and to both databases. */
import { EventEmitter } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, describe, expect, it } from 'vitest';
import { fileOf } from '../../../src/adapters/console/console-files.ts';
import { createLogger } from '../../../src/adapters/log.ts';
import { createAuthority, issueCertificate } from '../../../src/backend/broker/authority.ts';
import { runBackendProgram } from '../../../src/backend/cli.ts';
import { loadBackendConfig, readBackendSecrets } from '../../../src/backend/config/load-config.ts';
import { startBackend } from '../../../src/backend/daemon/backend.ts';
import { createConsoleStore } from '../../../src/backend/store/console-store.ts';
import { createSqliteEngine } from '../../../src/backend/store/sqlite-engine.ts';
import type { LedgerEntry, SessionRow, Store } from '../../../src/ports/store.ts';
import { findOpenssl } from '../../adapters/mqtt/mosquitto.ts';
import { gather } from '../../gathered.ts';
import { needs } from '../../needs.ts';
import { signInByTls } from '../console/sign-in-by-tls.ts';
import { onBothStores } from './both-stores.ts';
import { PASSWORD } from './postgres-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-backup-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let names = 0;
const fresh = (name: string): string => {
  names += 1;
  return join(folder, `${names}-${name}`);
};

function write(file: string, content: string): string {
  writeFileSync(file, content);
  chmodSync(file, 0o600);
  return file;
}

async function run(...words: string[]) {
  const { said, print, complain } = gather();
  const output = Object.assign(new PassThrough(), { fd: 1, isTTY: false });
  const code = await runBackendProgram(words, {
    env: {},
    output,
    signals: new EventEmitter(),
    print,
    complain,
  });
  return { code, ...said };
}

function writeConfig(store: object, apiKeyFile: string): string {
  const passwordFile = 'url' in store ? { passwordFile: write(fresh('password'), PASSWORD) } : {};
  const service = { url: 'http://127.0.0.1:1', streamUrl: 'wss://stream.example', apiKeyFile };
  const more = { allow: ['museum/*'], store: { ...store, ...passwordFile } };
  return write(fresh('c.json'), JSON.stringify({ mqtt: { url: 'mqtt://127.0.0.1:1' }, service, ...more }));
}

const session = (now: number): SessionRow => ({
  id: 's1',
  lane: 'main',
  madeAt: now,
  windowUntil: now + 60_000,
  endsAt: Number.POSITIVE_INFINITY,
  overAt: Number.POSITIVE_INFINITY,
  isRollover: false,
  isPending: true,
  isUnknown: true,
  state: 'live',
});

async function fill(store: Store, lines: number): Promise<void> {
  const entry = (index: number): Omit<LedgerEntry, 'device'> => ({
    id: `given/${index}`,
    lane: 'main',
    session: `s${index}`,
    source: 'backend',
    ms: index,
  });
  const ledger = Array.from({ length: lines }, (_, index) => entry(index));
  await store.change('museum/a', (_book, now) => ({
    change: { sessions: [session(now)], ledger },
    result: null,
  }));
}
const contentOf = async (store: Store) => ({
  sums: await store.sums(0, 8_000_000_000_000),
  known: await store.knownDevices(10),
  sessions: (await store.change('museum/a', (book) => ({ change: {}, result: book }))).sessions,
});

describe('an empty machine', needs(!findOpenssl() && 'needs openssl'), () => {
  const PASSWORD_OF_ANN = 'correct horse battery';
  /** Folder of all files of the machine. */
  const machine = join(folder, 'machine');
  const at = (name: string): string => join(machine, name);
  const put = (name: string, content: string): string => {
    mkdirSync(dirname(at(name)), { recursive: true });
    return write(at(name), content);
  };
  /** The line of docs/backend.md, with other paths. */
  const pageLine = (verb: string, paths: Record<string, string>): string[] => {
    const page = readFileSync(new URL('../../../docs/backend.md', import.meta.url), 'utf8');
    const line = new RegExp(`^sudo dragoman-backend (${verb} .*?) *(?:#.*)?$`, 'm').exec(page)?.[1] ?? '';
    return line.split(' ').map((word) => paths[word] ?? word);
  };

  it('lets people sign in again after the one line of the page', async () => {
    const authority = createAuthority('test authority');
    const pair = issueCertificate(authority, { usage: 'server', name: '127.0.0.1', days: 30 });
    const tls = {
      certFile: put('tls/console.crt', pair.certificate),
      keyFile: put('tls/console.key', pair.key),
    };
    // Without a folder, as in the configuration of the package.
    put('etc/secrets/api-key', 'the-account-key');
    put('broker/authority.key', 'the authority');
    const config = put(
      'etc/config.json',
      JSON.stringify({
        mqtt: { url: 'mqtt://127.0.0.1:9' },
        service: { url: 'http://127.0.0.1:9', streamUrl: 'wss://stream.example', apiKeyFile: 'api-key' },
        allow: ['museum/*'],
        // From the folder of the configuration, not from the working folder.
        store: { path: '../var/lib/backend/store.db' },
        console: { listen: '127.0.0.1:0', tls },
      }),
    );
    put('var/lib/backend/store.db', '');
    if (process.getuid?.() === 0)
      for (const name of ['tls/console.key', 'var/lib/backend', 'var/lib/backend/store.db'])
        chownSync(at(name), 65_534, 65_534);
    const modes = { 'etc/secrets': 0o700, tls: 0o750, broker: 0o700, 'var/lib/backend': 0o700, etc: 0o755 };
    for (const [name, mode] of Object.entries(modes)) chmodSync(at(name), mode);
    const password = write(fresh('password'), PASSWORD_OF_ANN);
    const ann = ['ann', '--role', 'administrator', '--password-file', password];
    expect(await run('people', 'add', ...ann, '--config', config)).toMatchObject({ code: 0 });
    const to = fresh('backup');
    const paths = {
      '/etc/dragoman-backend/config.json': config,
      museum: at('broker'),
      '/mnt/backup/monday': to,
    };
    expect(await run(...pageLine('backup', paths))).toMatchObject({ code: 0, err: '' });

    const before = statSync(tls.keyFile).uid;
    rmSync(machine, { recursive: true });
    const restore = await run(...pageLine('restore', paths));
    expect(restore).toMatchObject({ code: 0, err: '' });
    expect(restore.out).toContain(`of the store in ${at('var/lib/backend/store.db')} and`);
    for (const [name, mode] of Object.entries(modes))
      expect([name, statSync(at(name)).mode & 0o777]).toEqual([name, mode]);
    for (const file of [tls.keyFile, at('var/lib/backend'), at('var/lib/backend/store.db')])
      expect(statSync(file)).toMatchObject({ uid: before });
    expect(statSync(tls.keyFile).mode & 0o777).toBe(0o600);

    // What is there is not mixed with it.
    expect(await run(...pageLine('restore', paths))).toMatchObject({
      code: 1,
      err: expect.stringMatching(/the store is not empty/),
    });

    const restored = loadBackendConfig(config, {});
    const engine = createSqliteEngine(restored.store.path);
    const audit = await createConsoleStore(engine).audit({}, 10);
    expect(audit.map(({ what, on }) => [what, on])).toEqual([['people.add', 'ann']]);
    await engine.close();
    const secrets = readBackendSecrets(restored, {});
    expect(secrets.apiKey()).toBe('the-account-key');
    const log = createLogger({ level: 'fatal', format: 'json', sink: { write: () => {} } });
    const consoleFiles = new Map([['console.js', fileOf('"page";', 'text/javascript')]]);
    const backend = await startBackend({ config: restored, secrets, log, consoleFiles });
    try {
      const url = backend.consoleAt ?? '';
      const words = { name: 'ann', password: PASSWORD_OF_ANN };
      expect((await signInByTls(url, authority.certificate, words)).status).toBe(200);
    } finally {
      await backend.close();
    }
  });

  it('makes private folders for a store that the old machine did not have', async () => {
    const key = write(fresh('api-key'), 'the-account-key');
    const to = fresh('backup');
    const saved = writeConfig({ path: `${fresh('old')}.db` }, key);
    expect(await run('backup', '--config', saved, '--to', to)).toMatchObject({ code: 0 });
    const home = fresh('home');
    const target = writeConfig({ path: join(home, 'data', 'store.db') }, key);
    expect(await run('restore', '--config', target, '--from', to)).toMatchObject({ code: 0, err: '' });
    for (const made of [home, join(home, 'data')]) expect(statSync(made).mode & 0o777).toBe(0o700);
  });

  it('saves what can be saved when a credential is elsewhere, and names it', async () => {
    const config = writeConfig({ path: join(folder, 'elsewhere.db') }, 'sealed-api-key');
    const to = fresh('backup');
    expect(await run('backup', '--config', config, '--to', to)).toMatchObject({
      code: 0,
      err: 'warning: sealed-api-key is not saved, because it is not a file here. Keep a copy of its source.\n',
    });
  });
});

onBothStores((maker) => {
  it('brings back store, keys and authority, and never replaces what is there', async () => {
    const saved = await maker.make();
    // More lines than are read at once.
    await fill(saved.store(), 5200);
    const key = write(fresh('api-key'), 'the-account-key');
    const broker = fresh('broker');
    mkdirSync(broker);
    write(join(broker, 'authority.key'), 'the authority');
    const config = writeConfig(saved.config, key);
    const to = fresh('backup');
    const backup = await run('backup', '--config', config, '--to', to, '--broker', broker);
    expect(backup).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringMatching(/saved 5202 rows of the store/),
    });
    expect(statSync(to).mode & 0o777).toBe(0o700);
    expect(statSync(join(to, 'store.jsonl')).mode & 0o777).toBe(0o600);
    expect(backup.out).not.toContain('the-account-key');

    rmSync(key);
    rmSync(broker, { recursive: true });
    const restored = await maker.make();
    const target = writeConfig(restored.config, key);
    const restore = await run('restore', '--config', target, '--from', to);
    expect(restore).toMatchObject({ code: 0, err: '' });
    expect(restore.out).toMatch(
      /restored 5202 rows of the store(?: in \S+)? and 2 files; kept \d files? that already existed/,
    );
    expect(await contentOf(restored.store())).toEqual(await contentOf(saved.store()));
    expect(readFileSync(key, 'utf8')).toBe('the-account-key');
    expect(statSync(key).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(broker, 'authority.key'), 'utf8')).toBe('the authority');

    const again = await run('restore', '--config', target, '--from', to);
    expect(again).toMatchObject({
      code: 1,
      err: expect.stringMatching(/the store is not empty: restore into a new one/),
    });
    const twice = await run('backup', '--config', config, '--to', to);
    expect(twice).toMatchObject({ code: 1, err: expect.stringMatching(/exists: name a new folder/) });
  });

  it('restores nothing from a damaged backup or one of a newer program', async () => {
    const saved = await maker.make();
    await fill(saved.store(), 10);
    const key = write(fresh('api-key'), 'k');
    const to = fresh('backup');
    await run('backup', '--config', writeConfig(saved.config, key), '--to', to);
    const file = join(to, 'store.jsonl');
    const whole = readFileSync(file, 'utf8');
    const restored = await maker.make();
    const target = writeConfig(restored.config, key);
    for (const [text, words] of [
      [whole.slice(0, -20), /line 13 of the backup is damaged: nothing was restored/],
      [whole.replace(/"version":\d+/, '"version":99'), /has version 99: restore it with the newer program/],
      ['', /the backup is empty/],
      [
        whole.replace('"table":"ledger"', '"table":"ledger; DROP TABLE ledger"'),
        /line \d+ of the backup is damaged/,
      ],
    ] as const) {
      write(file, text);
      expect(await run('restore', '--config', target, '--from', to)).toMatchObject({
        code: 1,
        err: expect.stringMatching(words),
      });
      expect((await contentOf(restored.store())).sums).toEqual([]);
    }
    expect(existsSync(join(to, 'files.json'))).toBe(true);
    expect(await run('restore', '--config', target, '--from', folder)).toMatchObject({ code: 2 });
  });
});
