/** Who may do what at the console. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONSOLE_ROUTES, type ConsoleRoute } from '../../../src/protocol/console-routes.ts';
import {
  type ConsoleFixture,
  consoleOfEachTest,
  PASSWORD,
  startConsoleFixture,
} from './console-on-loopback.ts';

/** A path that fits the route; nothing of it exists. */
const pathOf = (route: string): string =>
  (route.split(' ')[1] ?? '').replace(/:(\w+)/g, (_, name: string) => `no-${name}`);
const REFUSED_FOR_WHO = ['signed_out', 'role'];

const EVERYBODY = [null, 'vic', 'otto', 'ann'];
const VIEWERS = ['vic', 'otto', 'ann'];
const OPERATORS = ['otto', 'ann'];
const ADMINISTRATORS = ['ann'];
/** Who may use each route, by hand from docs/console.md: a mistake in the table of the program must show here. */
const MAY: Readonly<Record<ConsoleRoute, readonly (string | null)[]>> = {
  'POST /api/sign-in': EVERYBODY,
  'POST /api/sign-out': VIEWERS,
  'GET /api/me': VIEWERS,
  'POST /api/me/password': VIEWERS,
  'GET /api/registry': VIEWERS,
  // "see the fleet, devices, conversations and cost"
  'GET /api/stream': VIEWERS,
  'GET /api/snapshot': VIEWERS,
  'POST /api/stream/view': VIEWERS,
  'GET /api/devices': VIEWERS,
  'GET /api/devices/:tenant/:device': VIEWERS,
  'GET /api/devices/:tenant/:device/health': VIEWERS,
  'GET /api/devices/:tenant/:device/config': VIEWERS,
  'GET /api/groups/:tenant/:group/config': VIEWERS,
  'GET /api/jobs': VIEWERS,
  'GET /api/jobs/:id': VIEWERS,
  'GET /api/conversations': VIEWERS,
  'GET /api/cost': VIEWERS,
  'GET /api/cost.csv': VIEWERS,
  // "give the commands of the role operator, and read logs"
  'POST /api/devices/:tenant/:device/log': OPERATORS,
  'POST /api/commands': OPERATORS,
  'POST /api/jobs/:id/stop': OPERATORS,
  // "change the desired configuration, manage people, and read the audit"
  'POST /api/config': ADMINISTRATORS,
  'GET /api/people': ADMINISTRATORS,
  'POST /api/people': ADMINISTRATORS,
  'POST /api/people/:name': ADMINISTRATORS,
  'POST /api/people/:name/unlock': ADMINISTRATORS,
  'POST /api/people/:name/remove': ADMINISTRATORS,
  'GET /api/audit': ADMINISTRATORS,
};
/** By hand from docs/security.md. */
const COMMANDS_OF_ADMINISTRATORS = ['reboot', 'certificate', 'update', 'rollback'];

describe('a role', () => {
  let fixture: ConsoleFixture;
  beforeAll(async () => {
    fixture = await startConsoleFixture();
    for (const name of VIEWERS) await fixture.signIn(name);
  });
  afterAll(() => fixture.close());

  it.each(Object.entries(MAY))('passes %s for %j alone', async (route, may) => {
    const [method = ''] = route.split(' ');
    for (const who of EVERYBODY) {
      // The empty body is refused by every route that needs one, after the role was checked.
      const path = route === 'GET /api/stream' ? `${pathOf(route)}?view=1` : pathOf(route);
      const { status, json } = await fixture.ask(who, method, path, method === 'POST' ? '' : undefined);
      const code = json?.error?.code ?? null;
      if (may.includes(who)) expect([who, REFUSED_FOR_WHO.includes(code)]).toEqual([who, false]);
      else expect([who, status, code]).toEqual(who === null ? [who, 401, 'signed_out'] : [who, 403, 'role']);
      if (route === 'POST /api/sign-out' && who !== null) await fixture.signIn(who);
    }
  });

  it('has no route that the table here leaves out', () => {
    expect(Object.keys(MAY).sort()).toEqual(Object.keys(CONSOLE_ROUTES).sort());
  });

  it('passes commands that change the device for administrators alone', async () => {
    const { commands } = (await fixture.ask('vic', 'GET', '/api/registry')).json;
    const names: string[] = commands.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining([...COMMANDS_OF_ADMINISTRATORS, 'mute', 'restart']));
    fixture.status('museum/a');
    await expect.poll(async () => (await fixture.ask('ann', 'GET', '/api/devices')).json.total).toBe(1);
    const to = { devices: ['museum/a'] };
    for (const command of names) {
      const codes = [];
      for (const who of VIEWERS) {
        const { json } = await fixture.ask(who, 'POST', '/api/commands', { command, args: { no: 1 }, to });
        codes.push(json.error.code);
      }
      const isFree = !COMMANDS_OF_ADMINISTRATORS.includes(command);
      expect([command, ...codes]).toEqual([command, 'role', isFree ? 'invalid' : 'role', 'invalid']);
    }
  });
});

const { start } = consoleOfEachTest();

describe('the console', () => {
  it('refuses what other pages make a browser send', async () => {
    const fixture = await start({}, ['ann']);
    const add = { name: 'eve', role: 'administrator', password: 'a long password of eve' };
    const post = (headers: Record<string, string>) => fixture.ask('ann', 'POST', '/api/people', add, headers);
    const foreign = [
      { origin: 'https://evil.example' },
      { origin: `${fixture.url}.evil.example` },
      { origin: `${fixture.url}0` },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: '', 'sec-fetch-site': 'none' },
      { 'content-type': 'text/plain' },
      { 'content-type': 'application/x-www-form-urlencoded' },
      // Headers of a proxy that is not listed.
      { origin: 'https://evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' },
    ];
    for (const headers of foreign)
      expect([headers, (await post(headers)).json.error.code]).toEqual([headers, 'foreign']);
    const silent = await fetch(`${fixture.url}/api/people`, {
      method: 'POST',
      headers: { cookie: fixture.cookieOf('ann'), 'content-type': 'application/json' },
      body: JSON.stringify(add),
    });
    expect(silent.status).toBe(403);
    const read = await fixture.ask('ann', 'GET', '/api/people', undefined, {
      'sec-fetch-site': 'cross-site',
    });
    expect(read.status).toBe(403);
    expect((await fixture.ask('ann', 'GET', '/api/people')).json.people).toHaveLength(3);
    expect((await post({ 'sec-fetch-site': 'same-origin' })).status).toBe(200);
  });

  it('believes a listed proxy about the browser, and sets a cookie that only TLS carries', async () => {
    const fixture = await start({
      config: { console: { listen: '127.0.0.1:0', trustedProxies: ['127.0.0.0/8'] } },
    });
    const proxied = {
      origin: 'https://kiosks.example',
      'x-forwarded-host': 'kiosks.example',
      'x-forwarded-proto': 'https',
      'x-forwarded-for': '203.0.113.9, 127.0.0.1',
    };
    const body = { name: 'ann', password: PASSWORD };
    const { headers, status } = await fixture.ask(null, 'POST', '/api/sign-in', body, proxied);
    expect(status).toBe(200);
    const cookie = headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(
      /^__Host-dragoman=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict; Secure$/,
    );
    const lines = await fixture.ask(null, 'GET', '/api/audit', undefined, {
      ...proxied,
      cookie: cookie.split(';')[0] ?? '',
    });
    expect(lines.json.lines[0]).toMatchObject({ who: 'ann', what: 'sign-in', from: '203.0.113.9' });
    // The same cookie is nothing on the way without TLS.
    const plain = await fixture.ask(null, 'GET', '/api/me', undefined, {
      cookie: cookie.split(';')[0] ?? '',
    });
    expect(plain.status).toBe(401);
  });

  it('keeps the sessions of two consoles on one host apart, of which a browser sends all cookies', async () => {
    const one = await start({}, ['ann']);
    const other = await startConsoleFixture();
    await other.signIn('vic');
    const cookie = `${one.cookieOf('ann')}; ${other.cookieOf('vic')}`;
    const me = async (fixture: ConsoleFixture) =>
      (await fixture.ask(null, 'GET', '/api/me', undefined, { cookie })).json.name;
    expect([await me(one), await me(other)]).toEqual(['ann', 'vic']);
    const nameOf = (text: string) => text.split('=')[0];
    expect(nameOf(one.cookieOf('ann'))).toBe(`dragoman-loopback-${new URL(one.url).port}`);
    expect(nameOf(one.cookieOf('ann'))).not.toBe(nameOf(other.cookieOf('vic')));
    await other.close();
  });

  it('slows guessing by name, and says the same for an unknown name', async () => {
    const fixture = await start();
    const attempt = (name: string) =>
      fixture.ask(null, 'POST', '/api/sign-in', { name, password: 'wrong password' });
    const unknown = await attempt('nobody');
    expect(unknown).toMatchObject({ status: 401, json: { error: { code: 'wrong' } } });
    expect((await attempt('vic')).json).toEqual(unknown.json);
    for (let count = 1; count < 10; count += 1) await attempt('vic');
    const late = await fixture.ask(null, 'POST', '/api/sign-in', { name: 'vic', password: PASSWORD });
    expect(late).toMatchObject({ status: 429, json: { error: { code: 'too_often' } } });
    expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(60);
    expect(await fixture.signIn('ann')).toBe(200);
    const audit = await fixture.ask('ann', 'GET', '/api/audit?what=sign-in&who=vic');
    expect(audit.json.lines).toHaveLength(10);
    expect(audit.json.lines[0].result).toMatchObject({ ok: false, text: 'name or password is wrong' });
  });

  it('ends sessions and their streams at sign-out, and at a change of role or password', async () => {
    const fixture = await start({}, ['ann', 'otto', 'vic']);
    const stream = await fixture.stream('vic');
    const stolen = fixture.cookieOf('vic');
    const left = await fixture.ask('vic', 'POST', '/api/sign-out', {});
    expect(left.headers.get('set-cookie')).toMatch(/^dragoman-loopback-\d+=; Path=\/; Max-Age=0; HttpOnly;/);
    await expect.poll(() => [stream.end, stream.isClosed]).toEqual(['signed_out', true]);
    const used = await fixture.ask(null, 'GET', '/api/me', undefined, { cookie: stolen });
    expect(used).toMatchObject({ status: 401, json: { error: { code: 'signed_out' } } });

    const other = await fixture.stream('otto');
    expect((await fixture.ask('ann', 'POST', '/api/people/otto', { role: 'viewer' })).json.role).toBe(
      'viewer',
    );
    await expect.poll(() => other.end).toBe('signed_out');
    expect((await fixture.ask('otto', 'GET', '/api/me')).status).toBe(401);
    await fixture.signIn('otto');
    expect((await fixture.ask('otto', 'POST', '/api/commands', {})).json.error.code).toBe('role');

    const next = 'another long password';
    const guess = await fixture.ask('otto', 'POST', '/api/me/password', {
      old: 'a wrong password',
      new: next,
    });
    expect(guess).toMatchObject({ status: 401, json: { error: { code: 'wrong' } } });
    expect(await fixture.signIn('otto')).toBe(200);
    const change = await fixture.ask('otto', 'POST', '/api/me/password', { old: PASSWORD, new: next });
    expect(change.status).toBe(200);
    expect((await fixture.ask('otto', 'GET', '/api/me')).status).toBe(200);
    expect(await fixture.signIn('otto')).toBe(401);
    expect(await fixture.signIn('otto', next)).toBe(200);
  });

  it('never loses its last administrator, and an administrator can make a second one', async () => {
    const fixture = await start({}, ['ann']);
    const alone = await fixture.ask('ann', 'POST', '/api/people/ann/remove', {});
    expect(alone).toMatchObject({ status: 409, json: { error: { code: 'last_administrator' } } });
    expect((await fixture.ask('ann', 'POST', '/api/people/ann', { role: 'viewer' })).status).toBe(409);
    await fixture.ask('ann', 'POST', '/api/people/otto', { role: 'administrator' });
    expect((await fixture.ask('ann', 'POST', '/api/people/ann/remove', {})).status).toBe(200);
    expect((await fixture.ask('ann', 'GET', '/api/me')).status).toBe(401);
    await fixture.signIn('otto');
    const short = await fixture.ask('otto', 'POST', '/api/people', {
      name: 'x',
      role: 'viewer',
      password: 'short',
    });
    expect(short.json.error.faults).toEqual([
      { pointer: '/password', message: 'must have at least 12 characters' },
    ]);
  });

  it('keeps no password, cookie or spoken text in log, audit, job or answer', async () => {
    const fixture = await start({}, ['ann']);
    fixture.status('museum/a');
    await expect.poll(async () => (await fixture.ask('ann', 'GET', '/api/devices')).json.total).toBe(1);
    const spoken = 'the words that shall be spoken';
    const args = { text: spoken, language: 'en' };
    const say = await fixture.ask('ann', 'POST', '/api/commands', {
      command: 'say',
      args,
      to: { devices: ['museum/a'] },
    });
    const secrets = [PASSWORD, fixture.cookieOf('ann').split('=')[1] ?? '?', spoken];
    await fixture.ask('ann', 'POST', '/api/people', {
      name: 'new',
      role: 'viewer',
      password: `${PASSWORD} 2`,
    });
    const change = { role: 'operator', password: `${PASSWORD} 3` };
    expect((await fixture.ask('ann', 'POST', '/api/people/new', change)).status).toBe(200);
    const own = { old: PASSWORD, new: `${PASSWORD} 4` };
    expect((await fixture.ask('ann', 'POST', '/api/me/password', own)).status).toBe(200);
    const audit = await fixture.ask('ann', 'GET', '/api/audit');
    const jobs = await fixture.ask('ann', 'GET', '/api/jobs');
    for (const text of [...fixture.lines, audit.text, jobs.text, say.text])
      for (const secret of secrets) expect(text).not.toContain(secret);
    expect(audit.json.lines).toMatchObject([
      { what: 'people.password', on: 'ann', args: {} },
      { what: 'people.role', on: 'new', args: { role: 'operator', password: 'new' } },
      { what: 'people.add', on: 'new', args: { role: 'viewer' } },
      { what: 'command.say' },
      { what: 'sign-in' },
    ]);
  });

  it('serves page and files to everybody, with a policy for scripts, and nothing else', async () => {
    const fixture = await start();
    const page = await fixture.ask(null, 'GET', '/devices/museum/a?x=1');
    expect(page).toMatchObject({ status: 200, text: expect.stringContaining('/assets/console.js') });
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self'");
    expect((await fixture.ask(null, 'GET', '/assets/console.js')).text).toBe('"page";');
    expect((await fixture.ask(null, 'GET', '/assets/..%2f..%2fpackage.json')).status).toBe(404);
    expect((await fixture.ask(null, 'GET', '/api/nothing')).status).toBe(404);
    expect((await fixture.ask(null, 'POST', '/api/me', {})).status).toBe(405);
    const large = await fixture.ask(null, 'POST', '/api/sign-in', 'x'.repeat(10_000));
    expect(large).toMatchObject({ status: 413, json: { error: { code: 'too_large' } } });
  });
});
