import type { Rule } from './source.ts';
import { importsOf, isCode, resolveImport, type SourceFile } from './source.ts';

/** In all code, tests too. Imports of types count: to understand one file of a circle, you must read all of them. */
export const importsHaveNoCircles: Rule = (files) => {
  const sources = files.filter(isCode);
  const known = new Set(sources.map(({ path }) => path));
  const targets = new Map(
    sources.map((file) => [file.path, targetsOf(file).filter((path) => known.has(path))]),
  );
  return circles(targets).map((circle) => `${circle.sort().join(' and ')} import each other`);
};

/**
 * Between the features of one program: folders directly below `src/device` and `src/backend`, with the files beside them as one
 * more. A reader understands a feature without those that use it.
 */
export const featuresHaveNoCircles: Rule = (files) => {
  const featureOf = (path: string): string | null =>
    /^(src\/(?:device|backend)(?:\/[^/]+(?=\/))?)\//.exec(path)?.[1] ?? null;
  const targets = new Map<string, Set<string>>();
  for (const file of files.filter(isCode)) {
    const from = featureOf(file.path);
    if (from === null) continue;
    const known = targets.get(from) ?? new Set();
    for (const path of targetsOf(file)) {
      const to = featureOf(path);
      if (to !== null && to !== from) known.add(to);
    }
    targets.set(from, known);
  }
  return circles(new Map([...targets].map(([from, known]) => [from, [...known]]))).map(
    (circle) => `${circle.sort().join(' and ')} import each other`,
  );
};

function targetsOf(file: SourceFile): string[] {
  return importsOf(file).flatMap((specifier) => resolveImport(file, specifier) ?? []);
}

/** Tarjan's strongly connected components, those of more than one file. */
function circles(targets: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (path: string): void => {
    order.set(path, order.size);
    lowest.set(path, order.get(path) ?? 0);
    stack.push(path);
    for (const next of targets.get(path) ?? []) {
      if (!order.has(next)) visit(next);
      const reached = stack.includes(next) ? (lowest.get(next) ?? 0) : Number.POSITIVE_INFINITY;
      lowest.set(path, Math.min(lowest.get(path) ?? 0, reached));
    }
    if (lowest.get(path) !== order.get(path)) return;
    const circle = stack.splice(stack.indexOf(path));
    if (circle.length > 1) found.push(circle);
  };
  for (const path of targets.keys()) if (!order.has(path)) visit(path);
  return found;
}
