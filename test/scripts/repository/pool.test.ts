import { describe, expect, it } from 'vitest';
import { type PoolFile, planPool } from '../../../scripts/repository/pool.ts';

const file = (version: string, { sha256 = `of ${version}`, architecture = 'all', name = 'dragoman' } = {}) =>
  ({ name, version, architecture, sha256 }) satisfies PoolFile;
const byNumber = (a: string, b: string): number => Number(a) - Number(b);
const versions = (files: readonly PoolFile[]): string[] => files.map(({ version }) => version);

describe('the plan of a release', () => {
  it('adds a new version and keeps the others', () => {
    const plan = planPool([file('9')], [file('10')], 5, byNumber);
    expect([versions(plan.add), versions(plan.remove)]).toEqual([['10'], []]);
  });

  it('removes the oldest versions by the order of versions, not of letters', () => {
    const plan = planPool([file('9'), file('100'), file('11')], [file('101')], 2, byNumber);
    expect(versions(plan.remove)).toEqual(['11', '9']);
  });

  it('counts versions per package and architecture', () => {
    const there = [file('1', { architecture: 'arm64' }), file('1', { name: 'dragoman-node' })];
    expect(planPool(there, [file('2')], 1, byNumber).remove).toEqual([]);
  });

  it('changes nothing when the version exists with the same content', () => {
    const plan = planPool([file('9')], [file('9')], 5, byNumber);
    expect(plan).toEqual({ add: [], remove: [] });
  });

  it('refuses a version that exists with other content', () => {
    const release = [file('10'), file('9', { sha256: 'other' })];
    expect(() => planPool([file('9')], release, 5, byNumber)).toThrow(
      /dragoman 9 \(all\) is already .* Raise the version/,
    );
  });

  it('takes a version between the kept ones', () => {
    const plan = planPool([file('8'), file('10')], [file('9')], 2, byNumber);
    expect([versions(plan.add), versions(plan.remove)]).toEqual([['9'], ['8']]);
  });

  it('refuses a version that is too old to be kept', () => {
    expect(() => planPool([file('8'), file('10')], [file('7')], 2, byNumber)).toThrow(/raise --keep/);
  });
});
