/** The mutants to choose from: automatic ones of sources, and those that people wrote in `test/mutants`. */
import * as fs from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'vite';
import { importTypeScript, ROOT } from '../import-typescript.mjs';

const read = (path) => fs.readFileSync(join(ROOT, path), 'utf8');
const { mutationsIn } = await importTypeScript('scripts/mutate/mutations.ts');

/** All automatic mutants of a file, or of the files below a folder. */
export function automaticMutants(path) {
  const isFile = fs.statSync(join(ROOT, path)).isFile();
  const names = isFile ? [''] : fs.readdirSync(join(ROOT, path), { recursive: true });
  return names
    .map((name) => join(path, name))
    .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts'))
    .flatMap((file) => {
      const text = read(file);
      return mutationsIn(parseSync(file, text).program, text).map(({ start, end, replacement }) =>
        mutantAt(file, text, start, end, replacement),
      );
    });
}

/** All mutants of `test/mutants`. Throws an error that lists each whose text is not exactly once in its file. */
export async function handMadeMutants() {
  const lists = fs.readdirSync(join(ROOT, 'test/mutants')).filter((name) => name.endsWith('.ts'));
  const wrong = [];
  const mutants = [];
  for (const list of lists) {
    const { MUTANTS } = await importTypeScript(`test/mutants/${list}`);
    for (const { file, from, to, seen } of MUTANTS ?? []) {
      const text = fs.existsSync(join(ROOT, file)) ? read(file) : '';
      const times = text.split(from).length - 1;
      if (times === 1) {
        const start = text.indexOf(from);
        mutants.push({ ...mutantAt(file, text, start, start + from.length, to), seen });
      } else wrong.push(`test/mutants/${list}: ${file} has this text ${times} times, not once:\n${from}`);
    }
  }
  if (wrong.length > 0)
    throw new Error(`${wrong.join('\n\n')}\n\nWrite the text as it is now, or remove the mutant.`);
  return mutants;
}

function mutantAt(file, text, start, end, replacement) {
  const mutated = text.slice(0, start) + replacement + text.slice(end);
  const line = text.slice(0, start).split('\n').length;
  // Whole lines, so that a reader sees what the change means.
  const [before, after] = [
    [text, end],
    [mutated, start + replacement.length],
  ].map(([code, last]) => linesOf(code, start, last));
  return { file, line, text, mutated, before, after };
}

function linesOf(code, start, end) {
  const first = code.lastIndexOf('\n', start - 1) + 1;
  const last = code.indexOf('\n', end);
  return code.slice(first, last === -1 ? undefined : last).trim();
}
