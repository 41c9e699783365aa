import { closeSync, openSync, readSync, truncateSync, writeSync } from 'node:fs';
import { ALIGNMENT, MIB, type Partition, partitionTable } from './partitions.ts';

const CHUNK = 4 * MIB;

/** Writes the image: the partition table and the partitions. It skips zeros, so that the file is sparse. */
export function writeCard(
  file: string,
  partitions: readonly Partition[],
  signature: string,
  sources: Readonly<Record<Partition['kind'], string>>,
): void {
  const last = partitions.at(-1);
  const card = openSync(file, 'w');
  try {
    writeSync(card, partitionTable(partitions, signature), 0, undefined, 0);
    for (const { kind, start } of partitions) copySparse(sources[kind], card, start);
  } finally {
    closeSync(card);
  }
  truncateSync(file, last === undefined ? ALIGNMENT : last.start + last.size);
}

function copySparse(from: string, card: number, at: number): void {
  const source = openSync(from, 'r');
  try {
    const chunk = Buffer.alloc(CHUNK);
    const zeros = Buffer.alloc(CHUNK);
    for (let offset = 0; ; offset += CHUNK) {
      const length = readSync(source, chunk, 0, CHUNK, offset);
      if (length === 0) return;
      if (chunk.compare(zeros, 0, length, 0, length) !== 0) writeSync(card, chunk, 0, length, at + offset);
    }
  } finally {
    closeSync(source);
  }
}
