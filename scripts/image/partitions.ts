/** The layout of a card: a plain MBR, which every Raspberry Pi starts from. */
export const SECTOR = 512;
export const MIB = 2 ** 20;
/** Cards erase in blocks of this size or less. */
export const ALIGNMENT = 4 * MIB;

const FAT32_LBA = 0x0c;
const LINUX = 0x83;
const TABLE_AT = 446;
const ENTRY_BYTES = 16;
/** Value of the unused fields of cylinder, head and sector. */
const NO_CHS = [0xfe, 0xff, 0xff];

export interface Partition {
  readonly kind: 'boot' | 'root' | 'data';
  /** Bytes. */
  readonly start: number;
  readonly size: number;
}

/** Places the three partitions one after the other, each at a multiple of 4 MiB. */
export function layOut(sizes: Readonly<Record<Partition['kind'], number>>): Partition[] {
  let start = ALIGNMENT;
  return (['boot', 'root', 'data'] as const).map((kind) => {
    const partition = { kind, start, size: alignUp(sizes[kind]) };
    start += partition.size;
    return partition;
  });
}

export const alignUp = (bytes: number): number => Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;

/** @param signature 8 hexadecimal digits, by which the system finds the partitions: `partitionId` */
export function partitionTable(partitions: readonly Partition[], signature: string): Buffer {
  const sector = Buffer.alloc(SECTOR);
  sector.writeUInt32LE(Number.parseInt(signature, 16), 440);
  for (const [index, { kind, start, size }] of partitions.entries()) {
    const at = TABLE_AT + ENTRY_BYTES * index;
    sector.set(NO_CHS, at + 1);
    sector.writeUInt8(kind === 'boot' ? FAT32_LBA : LINUX, at + 4);
    sector.set(NO_CHS, at + 5);
    sector.writeUInt32LE(start / SECTOR, at + 8);
    sector.writeUInt32LE(size / SECTOR, at + 12);
  }
  sector.writeUInt16LE(0xaa55, SECTOR - 2);
  return sector;
}

/** Linux's PARTUUID of a partition, independent of the name of the card. */
export const partitionId = (signature: string, number: number): string =>
  `${signature}-${String(number).padStart(2, '0')}`;
