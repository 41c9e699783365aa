import { readFile } from 'node:fs/promises';

/** The page's script and style, which the build places beside the program. */
export interface PageFiles {
  readonly script: string;
  readonly style: string;
}

/** @throws if the files are not beside the program */
export async function readPageFiles(): Promise<PageFiles> {
  const read = (name: string): Promise<string> => readFile(new URL(name, import.meta.url), 'utf8');
  const [script, style] = await Promise.all([read('./screen.js'), read('./screen.css')]);
  return { script, style };
}
