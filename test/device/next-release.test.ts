/** A later release has run, and the device has returned to this one: the state files of the later one are read here. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readRecord, writeRecord } from '../../src/device/commands/command-record-file.ts';
import { readDesired, writeDesired } from '../../src/device/config/desired-file.ts';
import { readTasks, writeTasks } from '../../src/device/lane/runner/accepted-tasks.ts';
import { budgetUse } from '../../src/device/limits/budget.ts';
import { readBudget, writeBudget } from '../../src/device/limits/budget-file.ts';
import type { Reading } from '../../src/device/state-files/versioned-file.ts';
import type { StateFile } from '../../src/ports/state-file.ts';
import { ofNextRelease } from '../next-release.ts';
import { createFakeDeps } from './fake-deps.ts';
import { createMemoryFile } from './memory-file.ts';

const FOLDER = new URL('./state-files/', import.meta.url);
const SOURCES = fileURLToPath(new URL('../../src/device/', import.meta.url));
const written = (name: string): string => readFileSync(new URL(`${name}-1.json`, FOLDER), 'utf8');

const again = <T>(reading: Reading<T>, write: (content: T) => string): unknown => {
  if (reading.kind !== 'kept') throw new Error(`the file is ${reading.kind}`);
  return JSON.parse(write(reading.content));
};
/** Reads a file, and writes it as this release does. */
const REWRITES: Readonly<Record<string, (text: string) => unknown>> = {
  commands: (text) => again(readRecord(text), ({ ledger }) => writeRecord(ledger)),
  desired: (text) => again(readDesired(text), writeDesired),
  tasks: (text) => again(readTasks(text), writeTasks),
  budget: (text) => again(readBudget(text), (days) => writeBudget(budgetUse(days, 0))),
};

describe('after a roll-back', () => {
  it.each(Object.keys(REWRITES))('the file "%s" has lost nothing of this release', (name) => {
    const own = REWRITES[name]?.(written(name));
    expect(own).toMatchObject({ version: 1 });
    expect(REWRITES[name]?.(ofNextRelease(written(name)))).toMatchObject(own as object);
  });

  it('the agent goes on with what was configured, owed and counted', async () => {
    const kept = new Map(Object.keys(REWRITES).map((name) => [name, createMemoryFile()]));
    const file = (name: string): StateFile => {
      const found = kept.get(name) ?? createMemoryFile();
      found.fill(ofNextRelease(written(name)));
      return found.file;
    };
    const deps = createFakeDeps(undefined, {
      commandFile: file('commands'),
      desiredFile: file('desired'),
      taskFile: file('tasks'),
      budgetFile: file('budget'),
    });
    await deps.goLive();
    expect(deps.agent.lanes[0]?.state.options).toMatchObject({ echo: 'off', standbyAfterMs: 45_000 });
    expect(deps.sent('cmd/stop/res').map(({ body }) => body['id'])).toEqual(['stop-7']);
    expect([...kept.values()].map(({ aside }) => aside)).toEqual([null, null, null, null]);
  });

  it('has a test for each state file', () => {
    const sources = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.ts'),
    );
    const texts = sources.map((name) => readFileSync(join(SOURCES, name), 'utf8'));
    const names = texts.flatMap((text) => [...text.matchAll(/stateFile\('(\w+)'/g)].map(([, name]) => name));
    // certificate-renewal.test.ts has that of the certificate.
    expect(new Set(names)).toEqual(new Set([...Object.keys(REWRITES), 'certificate']));
  });
});
