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
 * Between the folders directly below any folder of `src`, with the files beside them as one more. A reader understands a folder
 * without those that use it.
 */
export const foldersHaveNoCircles: Rule = (files) => {
  const targets = new Map<string, Set<string>>();
  for (const file of files.filter((one) => isCode(one) && one.path.startsWith('src/')))
    for (const path of targetsOf(file)) {
      const [from, to] = partsBetween(file.path, path);
      if (from === to) continue;
      targets.set(from, (targets.get(from) ?? new Set()).add(to));
    }
  return circles(new Map([...targets].map(([from, known]) => [from, [...known]]))).map(
    (circle) => `${circle.sort().join(' and ')} import each other`,
  );
};

/** The parts of their smallest common folder in which two files stand: its subfolders, or its own files (`folder/*`). */
function partsBetween(from: string, to: string): readonly [string, string] {
  const [own, other] = [from.split('/'), to.split('/')];
  const common = own.findIndex((step, index) => step !== other[index]);
  const partOf = (steps: readonly string[]): string =>
    common < steps.length - 1
      ? steps.slice(0, common + 1).join('/')
      : `${steps.slice(0, common).join('/')}/*`;
  return [partOf(own), partOf(other)];
}

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
