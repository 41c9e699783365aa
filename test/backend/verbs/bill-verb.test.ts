/** What `dragoman-backend bill` prints. The month is long over, so that each figure is known. */
import { EventEmitter } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runBackendProgram } from '../../../src/backend/cli.ts';
import { createSqlStore } from '../../../src/backend/store/sql-store.ts';
import { createSqliteEngine } from '../../../src/backend/store/sqlite-engine.ts';
import { BILL_COLUMNS } from '../../../src/protocol/bill.ts';
import { gather } from '../../gathered.ts';

const MINUTE = 60_000;
const folder = mkdtempSync(join(tmpdir(), 'dragoman-bill-'));
const path = join(folder, 'store.db');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

beforeAll(async () => {
  const open = (now: number) => createSqlStore({ ...createSqliteEngine(path), now: String(now) });
  const given = open(Date.UTC(2020, 1, 29, 22));
  const told = open(Date.UTC(2020, 1, 29, 23, 59));
  for (const [device, session, minutes, limit] of [
    ['museum/hall-1', 'a', 60, 90],
    ['museum/hall-1', 'b', 20.5, 90],
    ['museum/desk', 'c', 50, 90],
    ['museum/door', 'd', null, 90],
    ['museum/door', 'e', null, Number.POSITIVE_INFINITY],
    ['museum/gate', 'f', null, 30],
    ['museum/gate', 'g', 10, 30],
  ] as const) {
    const about = { device, lane: 'main', session };
    await given.append({ ...about, id: `given/${session}`, source: 'backend', ms: limit * MINUTE });
    if (minutes !== null) await told.report({ ...about, ms: minutes * MINUTE });
  }
  await told.addImplausible(new Map([['museum/gate', 2]]));
  await Promise.all([given.close(), told.close()]);
});

async function bill(...words: string[]) {
  const { said, print, complain } = gather();
  const group = (name: string, member: string, minutesPerMonth?: number) => ({
    name,
    members: [member],
    ...(minutesPerMonth !== undefined && { minutesPerMonth }),
  });
  const config = {
    mqtt: { url: 'mqtt://127.0.0.1:1' },
    service: { url: 'http://127.0.0.1:1', streamUrl: 'wss://stream.example' },
    allow: ['museum/*'],
    store: { path },
    groups: [
      group('halls', 'museum/hall-*', 100),
      group('desks', 'museum/desk', 50),
      group('doors', 'museum/door', 60),
      group('gates', 'museum/gate'),
    ],
  };
  const file = join(folder, 'c.json');
  writeFileSync(file, JSON.stringify(config));
  chmodSync(file, 0o600);
  const output = Object.assign(new PassThrough(), { fd: 1, isTTY: false });
  const argv = ['bill', '--config', file, ...words];
  const code = await runBackendProgram(argv, {
    env: {},
    output,
    signals: new EventEmitter(),
    print,
    complain,
  });
  return { code, ...said };
}

it('prints a line for each group with its budget, what is not known, and a warning', async () => {
  expect(await bill('--month', '2020-02', '--by', 'group')).toEqual({
    code: 0,
    err: '',
    out:
      "desks  50 of 50 min in 1 session; month's end: 50 min  WARNING: over the budget\n" +
      "doors  0 of 60 min in 2 sessions, 2 without a report (at most unlimited min); month's end: 0 min\n" +
      "gates  10 min in 2 sessions, 1 without a report (at most 30 min), 2 implausible reports; month's end: 10 min\n" +
      "halls  80.5 of 100 min in 2 sessions; month's end: 80.5 min  WARNING: near the budget\n",
  });
});

it('prints a line of JSON, and a table with a header also when there is nothing to bill', async () => {
  const { out } = await bill('--month', '2020-02', '--by', 'group', '--json');
  expect(JSON.parse(out)).toMatchObject({
    bill: { month: '2020-02', by: 'group', lines: [{ name: 'desks', minutes: 50 }, {}, {}, {}] },
  });
  expect((await bill('--month', '2020-03', '--json')).out).toBe(
    '{"bill":{"month":"2020-03","by":"device","lines":[]}}\n',
  );
  expect((await bill('--month', '2020-03', '--csv')).out).toBe(`${BILL_COLUMNS.join(',')}\n`);
  expect((await bill('--month', '2020-03')).out).toBe('no sessions in 2020-03\n');
});

it.each([
  [['--month', '2020-13'], /"2020-13" is not a month; write 2026-11/],
  [['--month', '2020-02', '--csv', '--json'], /choose either --csv or --json/],
  [['--month', '2020-02', '--by', 'room'], /device, group, site/],
])('refuses %j, and says what to write', async (words, why) => {
  expect(await bill(...words)).toMatchObject({ code: 2, out: '', err: expect.stringMatching(why) });
});
