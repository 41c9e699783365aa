import { extname } from 'node:path';
import { gzipSync } from 'node:zlib';
import { htmlOf } from '../html-page.ts';

export interface ConsoleFile {
  readonly type: string;
  readonly body: Buffer;
  readonly zipped: Buffer;
}
/** The page's built files by name. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>;

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** Text by file name: `scripts/build.mjs` inserts it; undefined when the sources run unbundled. */
declare const DRAGOMAN_CONSOLE: Readonly<Record<string, string>> | undefined;

/** The page's files as the build has put them into this program. @throws if they are not in it */
export async function readConsoleFiles(): Promise<ConsoleFiles> {
  if (typeof DRAGOMAN_CONSOLE === 'undefined')
    throw new Error('the console is only in the built program: run "npm run build"');
  return consoleFilesOf(DRAGOMAN_CONSOLE);
}

export function consoleFilesOf(texts: Readonly<Record<string, string>>): ConsoleFiles {
  return new Map(
    Object.entries(texts).map(([name, text]) => [name, fileOf(text, TYPES[extname(name)] ?? 'text/plain')]),
  );
}

export function fileOf(text: string, type: string): ConsoleFile {
  const body = Buffer.from(text);
  return { type, body, zipped: gzipSync(body) };
}

export function consolePage(): string {
  const meta = { 'color-scheme': 'light dark' };
  return htmlOf({ title: 'Dragoman', name: 'console', folder: '/assets/', meta });
}
