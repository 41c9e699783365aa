import { chmodSync, lutimesSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** A file, folder or link of a package. Its parent folders are added automatically. */
export interface Entry {
  /** Without the leading "/". */
  readonly path: string;
  readonly content: Buffer | string | { readonly folder: true } | { readonly link: string };
  /** Default: 0755 for folders, else 0644. */
  readonly mode?: number;
}

/** Uses the strongest compression, as Debian requires for documents. The header contains no time. */
export const gzip = (content: Buffer | string): Buffer => gzipSync(content, { level: 9 });

export const isBytes = (content: Entry['content']): content is Buffer | string =>
  typeof content === 'string' || Buffer.isBuffer(content);

/** Makes the entries below `root`: modes do not depend on the umask, and all times are `mtime` (seconds since 1970). */
export function writeTree(root: string, entries: readonly Entry[], mtime: number): void {
  const folders = new Map<string, number>([['.', 0o755]]);
  const addFolder = (path: string, mode: number): void => {
    if (path !== '.') addFolder(dirname(path), folders.get(dirname(path)) ?? 0o755);
    folders.set(path, mode);
  };
  for (const { path, content, mode } of entries)
    if (!isBytes(content) && 'folder' in content) addFolder(path, mode ?? 0o755);
    else addFolder(dirname(path), folders.get(dirname(path)) ?? 0o755);
  for (const folder of folders.keys()) mkdirSync(join(root, folder), { recursive: true });
  for (const { path, content, mode } of entries) {
    const file = join(root, path);
    if (isBytes(content)) {
      writeFileSync(file, content, { flag: 'wx' });
      chmodSync(file, mode ?? 0o644);
      utimesSync(file, mtime, mtime);
    } else if ('link' in content) {
      symlinkSync(content.link, file);
      lutimesSync(file, mtime, mtime);
    }
  }
  // Folders come last, because each new file changes the time of its folder.
  for (const [folder, mode] of folders) {
    chmodSync(join(root, folder), mode);
    utimesSync(join(root, folder), mtime, mtime);
  }
}
