/** `dragoman-backend people`, and the configuration of the console. */

import { EventEmitter } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runBackendProgram } from '../../../src/backend/cli.ts';
import { askSecretly } from '../../../src/program/ask-secretly.ts';
import { consoleOfEachTest } from '../console/console-on-loopback.ts';

let folder: string;
let config: string;
const base = {
  mqtt: { url: 'mqtt://127.0.0.1:1' },
  service: { url: 'http://127.0.0.1:9', streamUrl: 'wss://stream.example/x' },
  allow: ['museum/*'],
};
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-people-'));
  config = join(folder, 'backend.json');
  writeConfig({ store: { path: join(folder, 'store.db') } });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function writeConfig(more: object): void {
  writeFileSync(config, JSON.stringify({ ...base, ...more }));
}

async function run(words: string[], typed: (string | null)[] = []) {
  let [out, err] = ['', ''];
  const answers = [...typed];
  const code = await runBackendProgram([...words, '--config', config], {
    env: {},
    print: (text) => {
      out += text;
    },
    complain: (text) => {
      err += text;
    },
    output: Object.assign(new PassThrough(), { fd: 1 }),
    signals: new EventEmitter(),
    ask: async () => answers.shift() ?? null,
  });
  return { code, out, err };
}
const add = (name: string, role = 'administrator') => ['people', 'add', name, '--role', role];
const LONG = 'a long password';

describe('dragoman-backend people', () => {
  it('adds a person whose password is typed twice, lists and removes them', async () => {
    expect(await run(['people', 'list'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('no people yet'),
    });
    expect(await run(add('ann'), [LONG, LONG])).toMatchObject({
      code: 0,
      out: 'ann may sign in as administrator\n',
    });
    expect(await run(add('ann'), [LONG, LONG])).toMatchObject({
      code: 1,
      err: expect.stringContaining('already'),
    });
    const listed = await run(['people', 'list', '--json']);
    expect(JSON.parse(listed.out)).toMatchObject({
      people: [{ name: 'ann', role: 'administrator', last_seen: null }],
    });
    expect(listed.out).not.toContain('scrypt');
    expect(await run(['people', 'remove', 'ann'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('last administrator'),
    });
    await run(add('bob'), [LONG, LONG]);
    expect(await run(['people', 'remove', 'ann'])).toMatchObject({ code: 0 });
    expect(await run(['people', 'remove', 'ann'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('no person "ann"'),
    });
  });

  it('reads the password from a file, and refuses short ones, different ones and none', async () => {
    const file = join(folder, 'password');
    writeFileSync(file, `${LONG}\n`, { mode: 0o600 });
    expect(await run([...add('eve', 'viewer'), '--password-file', file])).toMatchObject({ code: 0 });
    expect(await run(add('x'), ['short', 'short'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('at least 12'),
    });
    expect(await run(add('x'), [LONG, `${LONG}!`])).toMatchObject({
      code: 1,
      err: expect.stringContaining('differ'),
    });
    expect(await run(add('x'))).toMatchObject({ code: 2, err: expect.stringContaining('--password-file') });
    expect(await run(add('X Y'), [LONG, LONG])).toMatchObject({ code: 2 });
    writeConfig({});
    expect(await run(add('x'), [LONG, LONG])).toMatchObject({
      code: 2,
      err: expect.stringContaining('store.path'),
    });
  });
});

describe('dragoman-backend people unlock', () => {
  const { start } = consoleOfEachTest();
  it('lets the only administrator sign in whose name others have locked, and is in the audit', async () => {
    const fixture = await start({ store: { path: join(folder, 'store.db') } });
    for (let guess = 0; guess < 10; guess += 1) await fixture.signIn('ann', `guess ${guess} of many`);
    expect(await fixture.signIn('ann')).toBe(429);
    const locked = await run(['people', 'list']);
    expect(locked.out).toMatch(/^ann .*; locked until \d{4}-\d\d-\d\dT/m);
    expect(await run(['people', 'unlock', 'ann'])).toEqual({
      code: 0,
      out: 'ann may try to sign in again\n',
      err: '',
    });
    expect((await run(['people', 'list'])).out).not.toContain('locked');
    expect(await fixture.signIn('ann')).toBe(200);
    const audit = await fixture.ask('ann', 'GET', '/api/audit?what=people.unlock');
    expect(audit.json.lines).toMatchObject([
      {
        who: expect.stringContaining('(command line)'),
        from: 'this machine',
        on: 'ann',
        result: { ok: true },
      },
    ]);
  });

  it('says that the name was not locked, and what ends the lock of an address', async () => {
    const fixture = await start({ store: { path: join(folder, 'store.db') } });
    for (let guess = 0; guess < 30; guess += 1)
      await fixture.signIn(`eve-${guess % 3}`, `guess ${guess} of many`);
    expect(await fixture.signIn('ann')).toBe(429);
    expect((await run(['people', 'list'])).out).not.toContain('locked');
    const { code, out } = await run(['people', 'unlock', 'ann']);
    expect(code).toBe(0);
    expect(out).toMatch(
      /^ann was not locked\. If the page says "from this address", .* a restart of the backend\n$/,
    );
  });

  it('names the verb that lists people when there is no such person, without a line in the audit', async () => {
    await run(add('ann'), [LONG, LONG]);
    expect(await run(['people', 'unlock', 'eve'])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/there is no person "eve": "people list" shows all/),
    });
  });
});

describe('a password at the terminal', () => {
  it('is not shown while it is typed, corrected and ended', async () => {
    const modes: boolean[] = [];
    const keyboard = Object.assign(new PassThrough(), {
      isTTY: true,
      setRawMode: (isRaw: boolean) => modes.push(isRaw),
    });
    let shown = '';
    const asked = askSecretly('Password: ', keyboard, (text) => {
      shown += text;
    });
    keyboard.write('pä');
    keyboard.write('ßx\u007f1\r');
    expect(await asked).toBe('päß1');
    expect([shown, modes]).toEqual(['Password: \n', [true, false]]);
    const given = askSecretly('Password: ', keyboard, () => {});
    keyboard.write('abc\u0003');
    expect(await given).toBeNull();
    expect(await askSecretly('?', Object.assign(new PassThrough(), { isTTY: false }), () => {})).toBeNull();
  });
});

describe('the configuration of the console', () => {
  const store = { path: '/tmp/none.db' };
  it.each([
    [
      'another address without TLS',
      { listen: '0.0.0.0:8443' },
      store,
      /console\.listen: is "0\.0\.0\.0:8443"; must be a loopback address/,
    ],
    [
      'half of a TLS pair',
      { listen: '127.0.0.1:1', tls: { certFile: 'x' } },
      store,
      /console\.tls\.keyFile: is missing/,
    ],
    [
      'no port',
      { listen: 'localhost' },
      store,
      /console\.listen: is "localhost"; must be an address of this machine with a port/,
    ],
    [
      'a name as proxy',
      { trustedProxies: ['proxy.example'] },
      store,
      /console\.trustedProxies\[0\]: is "proxy\.example"; must be an IP address/,
    ],
    [
      'no store',
      { listen: '127.0.0.1:8443' },
      undefined,
      /console\.listen: needs a store that keeps its people/,
    ],
  ])('is refused with %s', async (_what, given, kept, message) => {
    writeConfig({ console: given, ...(kept && { store: kept }) });
    const { code, err } = await run(['people', 'list']);
    expect(code).toBe(2);
    expect(err).toMatch(message);
  });
});
