/** A card with an image, and its partitions as another computer reads them. */
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Card {
  /** Path of the card: a raw file, larger than the image. */
  readonly file: string;
  /** Reads a file of the boot partition; null if missing. */
  read(name: string): string | null;
  write(name: string, text: string): void;
  remove(name: string): void;
  /** Copies files of the boot partition to a folder. */
  take(names: readonly string[], folder: string): void;
  partition(number: number): { readonly start: number; readonly size: number };
  /** Checks the data partition after replaying its journal. @returns the output of e2fsck */
  checkData(): string;
}

const SECTOR = 512;

/** @param bytes size of the card */
export function flash(image: string, file: string, bytes: number): Card {
  execFileSync('cp', ['--sparse=always', image, file]);
  truncateSync(file, bytes);
  return openCard(file);
}

export function openCard(file: string): Card {
  const partition = (number: number) => {
    const entry = Buffer.alloc(16);
    const card = openSync(file, 'r');
    readSync(card, entry, 0, 16, 446 + 16 * (number - 1));
    closeSync(card);
    return { start: entry.readUInt32LE(8) * SECTOR, size: entry.readUInt32LE(12) * SECTOR };
  };
  const at = `${file}@@${partition(1).start}`;
  const mtools = (program: string, ...words: string[]) =>
    execFileSync(program, ['-i', at, ...words], {
      env: { ...process.env, MTOOLS_SKIP_CHECK: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  return {
    file,
    partition,
    read(name) {
      try {
        return mtools('mtype', `::${name}`).toString();
      } catch {
        return null;
      }
    },
    write(name, text) {
      const source = `${file}.${name}`;
      writeFileSync(source, text);
      mtools('mcopy', '-o', source, `::${name}`);
    },
    remove: (name) => void mtools('mdel', `::${name}`),
    take: (names, folder) => {
      for (const name of names) mtools('mcopy', '-o', '-n', `::${name}`, join(folder, name));
    },
    checkData() {
      const { start, size } = partition(3);
      const copy = `${file}.data`;
      execFileSync('dd', [
        `if=${file}`,
        `of=${copy}`,
        'bs=4M',
        'iflag=skip_bytes,count_bytes',
        `skip=${start}`,
        `count=${size}`,
        'conv=sparse',
        'status=none',
      ]);
      execFileSync('sh', ['-c', 'e2fsck -fp "$1" || [ $? -eq 1 ]', 'sh', copy], { stdio: 'ignore' });
      const said = execFileSync('e2fsck', ['-fn', copy], { stdio: ['ignore', 'pipe', 'ignore'] }).toString();
      execFileSync('rm', [copy]);
      return said;
    },
  };
}
