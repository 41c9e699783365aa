/** A file of an initramfs. */
export interface InitramfsFile {
  /** Without the leading "/". */
  readonly path: string;
  readonly content: Buffer;
}

const ALIGNMENT = 4;
const MODE = 0o100644;

/**
 * Packs files in the format of an initramfs. The archive can be appended to an initramfs: its files are added to those there, or
 * replace them.
 */
export function cpio(files: readonly InitramfsFile[]): Buffer {
  const all = [...files, { path: 'TRAILER!!!', content: Buffer.alloc(0) }];
  return Buffer.concat(
    all.map(({ path, content }, index) => {
      const isEnd = index === files.length;
      const name = `${path}\0`;
      const [mode, links] = isEnd ? [0, 1] : [MODE, 1];
      const fields = [
        isEnd ? 0 : index + 1,
        mode,
        0,
        0,
        links,
        0,
        content.length,
        0,
        0,
        0,
        0,
        name.length,
        0,
      ];
      const head = `070701${fields.map((field) => field.toString(16).padStart(8, '0')).join('')}${name}`;
      return Buffer.concat([padded(Buffer.from(head)), padded(content)]);
    }),
  );
}

export function padded(content: Buffer): Buffer {
  return Buffer.concat([content, Buffer.alloc((ALIGNMENT - (content.length % ALIGNMENT)) % ALIGNMENT)]);
}
