import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';

/** A file, folder or link of a package. Its parent folders are added automatically. */
export interface Entry {
  /** Without the leading "/". */
  readonly path: string;
  readonly content: Buffer | string | { readonly folder: true } | { readonly link: string };
  /** Default: 0755 for folders, else 0644. */
  readonly mode?: number;
}

const BLOCK = 512;
/** Compression level of the data. The highest would save only 0.3 % of the private Node.js, and costs time. */
const DATA_LEVEL = 6;
const EXECUTABLE_FOLDER = 0o755;

/** gzip without a time and without the system's name in its header. */
export function gzip(content: Buffer | string, level = 9): Buffer {
  const packed = gzipSync(content, { level });
  packed.writeUInt32LE(0, 4);
  packed.writeUInt8(3, 9);
  return packed;
}

/** A reproducible archive: owner root, one time for all entries, sorted by path. */
export function tar(entries: readonly Entry[], mtime: number): Buffer {
  const all = [...withFolders(entries)].sort((a, b) => (a.path < b.path ? -1 : 1));
  const parts = all.flatMap((entry) => {
    const { content } = entry;
    const body = isBytes(content) ? Buffer.from(content) : Buffer.alloc(0);
    const padding = Buffer.alloc((BLOCK - (body.length % BLOCK)) % BLOCK);
    return [header(entry, body.length, mtime), body, padding];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
}

const isBytes = (content: Entry['content']): content is Buffer | string =>
  typeof content === 'string' || Buffer.isBuffer(content);

/** Adds the folders of the entries: each once, before its content. */
function withFolders(entries: readonly Entry[]): Iterable<Entry> {
  const byPath = new Map<string, Entry>([['', { path: '', content: { folder: true } }]]);
  for (const { path } of entries) {
    const steps = path.split('/').slice(0, -1);
    for (let depth = 1; depth <= steps.length; depth++) {
      const folder = steps.slice(0, depth).join('/');
      byPath.set(folder, { path: folder, content: { folder: true } });
    }
  }
  for (const entry of entries) {
    const { path, content } = entry;
    const known = byPath.get(path);
    if (known !== undefined && (isBytes(content) || isBytes(known.content)))
      throw new Error(`two entries have the path ${path}`);
    byPath.set(path, entry);
  }
  return byPath.values();
}

function header({ path, content, mode }: Entry, size: number, mtime: number): Buffer {
  const isFolder = !isBytes(content) && 'folder' in content;
  const link = !isBytes(content) && 'link' in content ? content.link : '';
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, length: number): void => {
    block.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at, 'latin1');
  };
  const name = `./${path}${isFolder && path !== '' ? '/' : ''}`;
  if (Buffer.byteLength(name) > 100 || Buffer.byteLength(link) > 100) throw new Error(`${path} is too long`);
  block.write(name, 0);
  octal(link === '' ? (mode ?? (isFolder ? EXECUTABLE_FOLDER : 0o644)) : 0o777, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(mtime, 136, 12);
  block.fill(' ', 148, 156);
  block.write(link !== '' ? '2' : isFolder ? '5' : '0', 156);
  block.write(link, 157);
  block.write('ustar\x0000root', 257, 'latin1');
  block.write('root', 297);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

/** A Debian package: `control` and `data`, each an archive, in an archive of `ar`. */
export function deb(control: readonly Entry[], data: readonly Entry[], mtime: number): Buffer {
  const members: [string, Buffer][] = [
    ['debian-binary', Buffer.from('2.0\n')],
    ['control.tar.gz', gzip(tar([...control, { path: 'md5sums', content: md5sums(data) }], mtime))],
    ['data.tar.gz', gzip(tar(data, mtime), DATA_LEVEL)],
  ];
  const parts = members.flatMap(([name, content]) => {
    const fields = [name.padEnd(16), String(mtime).padEnd(12), '0'.padEnd(6), '0'.padEnd(6)];
    const head = `${fields.join('')}${'100644'.padEnd(8)}${String(content.length).padEnd(10)}\`\n`;
    return [Buffer.from(head, 'latin1'), content, Buffer.from(content.length % 2 === 0 ? '' : '\n')];
  });
  return Buffer.concat([Buffer.from('!<arch>\n'), ...parts]);
}

function md5sums(data: readonly Entry[]): string {
  return data
    .flatMap(({ path, content }) =>
      isBytes(content) ? [`${createHash('md5').update(content).digest('hex')}  ${path}\n`] : [],
    )
    .sort((a, b) => (a.slice(34) < b.slice(34) ? -1 : 1))
    .join('');
}

/** Installed size as dpkg counts it (KiB): each file rounded up, 1 for a folder or link. */
export function installedKib(data: readonly Entry[]): number {
  let kib = 0;
  for (const { content } of withFolders(data))
    kib += isBytes(content) ? Math.max(1, Math.ceil(Buffer.byteLength(content) / 1024)) : 1;
  return kib;
}
