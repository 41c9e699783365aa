import type { SourceFile } from '../../test/tidy/source.ts';
import { resolveImport } from '../../test/tidy/source.ts';

/** Imports that hold at run time: types are erased. */
const IMPORT = /\b(?:import|export)\b(?!\s+type\b)[^'";]*?\bfrom\s*'([^']+)'|\bimport\s*\(?\s*'([^']+)'/g;

/** Code that a file runs without an import: bundles, which the tests start as programs or open in a browser. */
const RUNS: Readonly<Record<string, readonly string[]>> = {
  'test/screen/browser.ts': ['src/page/kiosk/main.tsx'],
  'test/console/console-page.ts': ['src/page/console/main.tsx'],
  'test/bundles.ts': [
    'src/cli/main.ts',
    'src/backend/main.ts',
    'src/emulator/main.ts',
    'src/updater/main.ts',
  ],
};

/** Tests that start bundles or a browser take longest: they come last, except for a source that only they run. */
const LAST = 100;

/** Maximum number of mentions of the source's name that count. */
const MOST_MENTIONS = 5;

/** Tests for a release, and those on whole machines, cards and containers: too slow for each mutant. */
const NOT_FOR_MUTANTS =
  /\.long\.test\.ts$|^test\/(card|deb|nspawn|whole-machine\/.*|build\/image|e2e|tidy|docs)\/|^test\/screen\/(latency|load|cage)\./;

const isTest = (path: string): boolean => path.endsWith('.test.ts') && !NOT_FOR_MUTANTS.test(path);

/**
 * Returns a function that lists the tests which run a source file, the nearest first: few imports between them, words of the
 * path in common, mentions of its name, a small file.
 */
export function nearestTests(files: readonly SourceFile[]): (path: string) => string[] {
  const importers = importersIn(files);
  const starts = new Set(Object.keys(RUNS).flatMap((path) => [...distancesFrom(path, importers).keys()]));
  const textOf = new Map(files.map(({ path, text }) => [path, text]));
  return (path) => {
    const words = wordsOf(path);
    const name = new RegExp(wordsOf(path.slice(path.lastIndexOf('/') + 1)).join('.?'), 'gi');
    const rank = (test: string, distance: number): number => {
      const common = wordsOf(test).filter((word) => words.includes(word)).length;
      const mentions = textOf.get(test)?.match(name)?.length ?? 0;
      return (starts.has(test) ? LAST : 0) + distance - 2 * common - Math.min(mentions, MOST_MENTIONS);
    };
    return [...distancesFrom(path, importers)]
      .filter(([file]) => isTest(file))
      .map(([test, distance]) => ({ test, rank: rank(test, distance), size: textOf.get(test)?.length ?? 0 }))
      .sort((a, b) => a.rank - b.rank || a.size - b.size)
      .map(({ test }) => test);
  };
}

function importersIn(files: readonly SourceFile[]): Map<string, string[]> {
  const importers = new Map<string, string[]>();
  for (const file of files) {
    const imported = [...file.text.matchAll(IMPORT)].flatMap(
      ([, from, plain]) => resolveImport(file, from ?? plain ?? '') ?? [],
    );
    for (const target of new Set([...imported, ...(RUNS[file.path] ?? [])]))
      importers.set(target, [...(importers.get(target) ?? []), file.path]);
  }
  return importers;
}

function distancesFrom(path: string, importers: ReadonlyMap<string, readonly string[]>): Map<string, number> {
  const distances = new Map([[path, 0]]);
  // Iteration of a map also visits entries that are added meanwhile, so the nearest come first.
  for (const [file, distance] of distances)
    for (const importer of importers.get(file) ?? [])
      if (!distances.has(importer)) distances.set(importer, distance + 1);
  return distances;
}

function wordsOf(path: string): string[] {
  return path
    .replace(/^(src|test)\//, '')
    .replace(/(\.test)?\.tsx?$/, '')
    .split(/[/-]/);
}
