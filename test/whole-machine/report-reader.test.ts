import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readReports } from './virtual/report-reader.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-reports-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const began = (scenario: string) => ({ kind: 'began', scenario, atS: 1.5 });
const line = (scenario: string) => Buffer.from(`${JSON.stringify(began(scenario))}\n`);

it('reads only new lines, also after an incomplete line or character', () => {
  const file = join(folder, 'told');
  writeFileSync(file, '');
  const reports = readReports(file);
  expect(reports()).toEqual([]);
  const [first, second] = [line('“broker”'), line('killed')];
  const cut = first.indexOf('“') + 1;
  appendFileSync(file, first.subarray(0, cut));
  expect(reports()).toEqual([]);
  appendFileSync(file, Buffer.concat([first.subarray(cut), second.subarray(0, 5)]));
  expect(reports()).toEqual([began('“broker”')]);
  appendFileSync(file, second.subarray(5));
  expect(reports()).toEqual([began('“broker”'), began('killed')]);
  expect(reports()).toHaveLength(2);
});

it('reads a report that is longer than its buffer', () => {
  const file = join(folder, 'told');
  const long = 'a'.repeat(200_000);
  writeFileSync(file, Buffer.concat([line(long), line('hung')]));
  expect(readReports(file)()).toEqual([began(long), began('hung')]);
});
