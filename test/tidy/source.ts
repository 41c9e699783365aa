import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** A file of the repository, or an example in a test. */
export interface SourceFile {
  /** From the root of the repository, with `/`. */
  readonly path: string;
  readonly text: string;
}

/** Returns one line for each violation. */
export type Rule = (files: readonly SourceFile[]) => string[];

const NOT_OURS = new Set(['.git', 'node_modules', 'dist', 'coverage']);
const BINARY = /\.(wav|wasm|png|ico|gz)$/;
/** Files that a demo or a test run writes. */
const LEFT_BEHIND = /^(.*\.log|[^/]*\.wav)$/;

/** Every text file of the project, committed or not. */
export function readTree(root: string): SourceFile[] {
  const files: SourceFile[] = [];
  const visit = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const full = join(folder, entry.name);
      const path = relative(root, full).replaceAll('\\', '/');
      if (NOT_OURS.has(entry.name) || LEFT_BEHIND.test(path)) continue;
      if (entry.isDirectory()) visit(full);
      else if (entry.isFile())
        files.push({ path, text: BINARY.test(path) ? '' : readFileSync(full, 'utf8') });
    }
  };
  visit(root);
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

export function isCode({ path }: SourceFile): boolean {
  return /\.(tsx?|mts|mjs|js)$/.test(path);
}

const IMPORT = /\b(?:import|export)\b[^'";]*?\bfrom\s*'([^']+)'|\bimport\s*\(?\s*'([^']+)'/g;

/** The imports of a file, types included, as written: `zod`, `node:fs`, `../ports/bus.ts`. */
export function importsOf(file: SourceFile): string[] {
  const code = blank(file.text, { strings: false });
  return [...code.matchAll(IMPORT)].map((match) => match[1] ?? match[2] ?? '');
}

/** The path of a relative import from the root; null for a package. */
export function resolveImport(file: SourceFile, specifier: string): string | null {
  if (!specifier.startsWith('.')) return null;
  const steps = file.path.split('/').slice(0, -1);
  for (const step of specifier.split('/')) {
    if (step === '..') steps.pop();
    else if (step !== '.') steps.push(step);
  }
  return steps.join('/');
}

/** The code of a file without comments, texts and regular expressions. */
export function codeOf(file: SourceFile): string {
  return blank(file.text, { strings: true });
}

const TOKEN =
  /(\/\/[^\n]*|\/\*[\s\S]*?\*\/)|('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")|(`(?:[^`\\]|\\[\s\S])*`)|((?<=(?:^|[=(,:[!&|?{};]|return|=>)\s*)\/(?![/*])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*)/g;

function blank(text: string, { strings }: { strings: boolean }): string {
  return text.replace(
    TOKEN,
    (token, comment?: string, quoted?: string, template?: string, pattern?: string) => {
      if (comment !== undefined) return ' ';
      if (pattern !== undefined) return '/ /';
      if (!strings) return token;
      if (quoted !== undefined) return "''";
      // The inside of ${...} is code.
      return (
        [...(template ?? '').matchAll(/\$\{([^}]*)\}/g)].map((match) => ` (${match[1]}) `).join('') || "''"
      );
    },
  );
}
