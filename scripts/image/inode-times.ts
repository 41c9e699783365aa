import { closeSync, openSync, readSync, writeSync } from 'node:fs';

/**
 * Sets the times of all inodes to the time of the image, and updates their checksums. mke2fs copies the times of the source
 * files, which differ between builds.
 */
export function setInodeTimes(file: string, epoch: number): void {
  const image = openSync(file, 'r+');
  try {
    const system = readSystem(image);
    for (let group = 0; group < system.groups; group += 1) {
      const at = tableOf(image, system, group);
      const table = Buffer.alloc(system.inodesPerGroup * system.inodeSize);
      readSync(image, table, 0, table.length, at);
      for (let index = 0; index < system.inodesPerGroup; index += 1) {
        const inode = table.subarray(index * system.inodeSize, (index + 1) * system.inodeSize);
        if (inode.readUInt16LE(MODE) === 0) continue;
        setTimes(inode, epoch);
        if (system.hasChecksums) setChecksum(inode, system.seed, group * system.inodesPerGroup + index + 1);
      }
      writeSync(image, table, 0, table.length, at);
    }
  } finally {
    closeSync(image);
  }
}

/** Byte offsets in the superblock, in a group descriptor and in an inode (see the kernel's Documentation/filesystems/ext4). */
const SUPERBLOCK = { at: 1024, bytes: 1024 };
const INODES = 0;
const LOG_BLOCK_SIZE = 24;
const INODES_PER_GROUP = 40;
const INODE_SIZE = 88;
const FEATURES = { incompatible: 96, readOnly: 100 };
const UUID = { at: 104, bytes: 16 };
const DESCRIPTION_SIZE = 254;
const CHECKSUM_SEED = 0x270;
const IS_64_BIT = 0x80;
const HAS_SEED = 0x2000;
const HAS_CHECKSUMS = 0x400;
const TABLE = { low: 8, high: 40 };
const MODE = 0;
const TIMES = { read: 8, changed: 12, made: 0x90 };
/** Nanosecond fields: change, access, creation. */
const FRACTIONS = [0x84, 0x8c, 0x94];
const GENERATION = 0x64;
const CHECKSUM = { low: 0x7c, high: 0x82 };

interface System {
  readonly groups: number;
  readonly blockSize: number;
  readonly inodesPerGroup: number;
  readonly inodeSize: number;
  readonly descriptionSize: number;
  readonly hasChecksums: boolean;
  readonly seed: number;
}

function readSystem(image: number): System {
  const block = Buffer.alloc(SUPERBLOCK.bytes);
  readSync(image, block, 0, block.length, SUPERBLOCK.at);
  const inodesPerGroup = block.readUInt32LE(INODES_PER_GROUP);
  const incompatible = block.readUInt32LE(FEATURES.incompatible);
  const uuid = block.subarray(UUID.at, UUID.at + UUID.bytes);
  return {
    groups: block.readUInt32LE(INODES) / inodesPerGroup,
    blockSize: 1024 << block.readUInt32LE(LOG_BLOCK_SIZE),
    inodesPerGroup,
    inodeSize: block.readUInt16LE(INODE_SIZE),
    descriptionSize: (incompatible & IS_64_BIT) !== 0 ? block.readUInt16LE(DESCRIPTION_SIZE) : 32,
    hasChecksums: (block.readUInt32LE(FEATURES.readOnly) & HAS_CHECKSUMS) !== 0,
    seed: (incompatible & HAS_SEED) !== 0 ? block.readUInt32LE(CHECKSUM_SEED) : crc32c(0xffffffff, uuid),
  };
}

/** Offset of a group's inode table. */
function tableOf(image: number, { blockSize, descriptionSize }: System, group: number): number {
  const description = Buffer.alloc(descriptionSize);
  const begin = Math.max(blockSize, 2 * SUPERBLOCK.bytes);
  readSync(image, description, 0, descriptionSize, begin + group * descriptionSize);
  const high = descriptionSize > TABLE.high ? description.readUInt32LE(TABLE.high) : 0;
  return (high * 2 ** 32 + description.readUInt32LE(TABLE.low)) * blockSize;
}

function setTimes(inode: Buffer, epoch: number): void {
  for (const at of Object.values(TIMES)) inode.writeUInt32LE(epoch, at);
  for (const at of FRACTIONS) inode.writeUInt32LE(0, at);
}

function setChecksum(inode: Buffer, seed: number, number: number): void {
  inode.writeUInt16LE(0, CHECKSUM.low);
  inode.writeUInt16LE(0, CHECKSUM.high);
  const name = Buffer.alloc(8);
  name.writeUInt32LE(number, 0);
  name.writeUInt32LE(inode.readUInt32LE(GENERATION), 4);
  const sum = crc32c(crc32c(seed, name), inode);
  inode.writeUInt16LE(sum & 0xffff, CHECKSUM.low);
  inode.writeUInt16LE(sum >>> 16, CHECKSUM.high);
}

const CASTAGNOLI = 0x82f63b78;
const REMAINDERS = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit += 1) rest = (rest & 1) === 0 ? rest >>> 1 : (rest >>> 1) ^ CASTAGNOLI;
  return rest;
});

/** CRC-32C without the final inversion, as ext4 uses it. */
function crc32c(seed: number, bytes: Buffer): number {
  let sum = seed;
  for (const byte of bytes) sum = (sum >>> 8) ^ (REMAINDERS[(sum ^ byte) & 0xff] ?? 0);
  return sum >>> 0;
}
