import { readdir, readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { gzipSync } from 'node:zlib';

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

/** Reads the folder `console` beside the program, which the build makes. @throws if it is missing */
export async function readConsoleFiles(
  folder = new URL('./console/', import.meta.url),
): Promise<ConsoleFiles> {
  const names = (await readdir(folder)).filter((name) => TYPES[extname(name)] !== undefined);
  const files = await Promise.all(
    names.map(async (name): Promise<[string, ConsoleFile]> => {
      const body = await readFile(new URL(name, folder));
      return [name, { type: TYPES[extname(name)] ?? '', body, zipped: gzipSync(body) }];
    }),
  );
  return new Map(files);
}

export function fileOf(text: string, type: string): ConsoleFile {
  const body = Buffer.from(text);
  return { type, body, zipped: gzipSync(body) };
}

export function consolePage(): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Dragoman</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/assets/console.css">
<script type="module" src="/assets/console.js"></script>
</head>
<body><div id="console"></div></body>
</html>
`;
}
